# Two images of Portico. `portico`, the default, starts stdio servers too: Node with npm and npx, a shell, an init.
# `portico-slim` is for servers over HTTP: Node, and no other program.
# NODE_IMAGE may be any image with Node 24, npm and bash.
ARG NODE_IMAGE=node:24-bookworm-slim

# Install scripts stay off: the image brings its own Node. Behind a proxy with a certificate authority of its own:
# docker build --secret id=ca,src=/path/to/ca.crt
FROM ${NODE_IMAGE} AS production
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=secret,id=ca \
    if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi \
    && npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE} AS development
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=secret,id=ca \
    if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi \
    && npm ci --ignore-scripts --no-audit --no-fund

FROM development AS build
COPY build.ts ./
COPY src ./src
RUN npm run build

# Started once, as the user and with the options of every later start: what Node has compiled is kept, and a start takes
# half the time. In the image it is root's: whoever could write there would have their code run.
FROM production AS started
COPY --from=build /app/dist /app/dist
COPY deploy/image/portico.yaml /etc/portico/
RUN mkdir -p node_modules/.cache/portico && chown 1000:1000 node_modules/.cache/portico
USER 1000:1000
RUN node --max-semi-space-size=16 dist/main.js --config /etc/portico/portico.yaml > /tmp/said & portico=$!; \
    while kill -0 "$portico" && ! grep -q 'Portico listens' /tmp/said; do sleep 0.1; done; \
    kill "$portico" && wait "$portico"
USER 0:0
RUN chown -R 0:0 node_modules/.cache && chmod -R a+rX node_modules/.cache

# What both images have of Portico.
FROM scratch AS portico-files
COPY --from=production /app/node_modules /app/node_modules
COPY --from=started /app/node_modules/.cache/portico /app/node_modules/.cache/portico
COPY --from=build /app/dist /app/dist
COPY package.json LICENSE /app/
COPY config/portico.schema.json /app/config/
COPY deploy/image/portico.yaml /etc/portico/

# Node, the libraries that it has loaded, and what an unprivileged process expects to find.
FROM ${NODE_IMAGE} AS slim-root
RUN set -e; mkdir -p /slim/usr/local/bin /slim/etc /slim/tmp; \
    cp "$(node -p process.execPath)" /slim/usr/local/bin/node; \
    node -p "process.report.getReport().sharedObjects.filter((path) => /\.so(\.|$)/.test(path) && path[0] === '/').join('\n')" \
    | while read -r library; do mkdir -p "/slim$(dirname "$library")"; cp -L "$library" "/slim$library"; done; \
    echo 'portico:x:1000:1000::/tmp:/sbin/nologin' > /slim/etc/passwd; echo 'portico:x:1000:' > /slim/etc/group; \
    chmod 1777 /slim/tmp; chroot /slim /usr/local/bin/node --version

FROM scratch AS portico-slim
COPY --from=slim-root /slim /
COPY --from=portico-files / /
ENV PATH=/usr/local/bin NODE_ENV=production PORTICO_CONFIG=/etc/portico/portico.yaml
WORKDIR /app
USER 1000:1000
EXPOSE 8080 9090
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s \
    CMD ["node", "-e", "fetch(process.env.PORTICO_LIVEZ ?? 'http://127.0.0.1:9090/livez').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# It has no children, so it needs no init.
ENTRYPOINT ["node", "--max-semi-space-size=16", "/app/dist/main.js"]

FROM ${NODE_IMAGE} AS portico
COPY --from=portico-files / /
COPY --chmod=755 deploy/image/init.sh /app/deploy/
# The one place that is written to, besides /tmp: what npx downloads is kept here. The root may be read-only.
RUN mkdir -p /var/cache/portico && chown 1000:1000 /var/cache/portico
ENV NODE_ENV=production \
    PORTICO_CONFIG=/etc/portico/portico.yaml \
    HOME=/var/cache/portico \
    npm_config_cache=/var/cache/portico/.npm \
    npm_config_update_notifier=false
VOLUME /var/cache/portico
WORKDIR /app
USER 1000:1000
EXPOSE 8080 9090
# The loop turns; whether Portico is ready for traffic is /readyz, for whoever sends it traffic.
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s \
    CMD ["node", "-e", "fetch(process.env.PORTICO_LIVEZ ?? 'http://127.0.0.1:9090/livez').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/app/deploy/init.sh", "node", "--max-semi-space-size=16", "/app/dist/main.js"]
