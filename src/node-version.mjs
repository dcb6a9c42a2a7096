// Runs before `npm start` and `npm test`, in plain JavaScript, since a Node that is too old cannot read the rest.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const isNewEnough = major > 22 || (major === 22 && minor >= 19);

// Early releases of Node 23 came without type stripping although their number is high enough.
if (!isNewEnough || !process.features.typescript) {
  process.stderr.write(
    `Portico needs Node.js 22.19 or newer (23.6 or newer of 23); this is ${process.versions.node}.\n` +
      'Install a newer one, or run `npm ci` with development dependencies: they bring Node.js 24 for the npm scripts.\n',
  );
  process.exitCode = 1;
}
