// The everything-server as a process. `EVERYTHING_ERA` is dual (the default), modern or legacy; with
// `EVERYTHING_TRANSPORT=http` it prints its URL on one line once it listens on `PORT` (default: a free one).
import { EverythingChanges } from './everything-changes.ts';
import { everythingFactory } from './everything-factory.ts';
import { type ServedEra, serveOverHttp, serveOverStdio } from './sdk-serve.ts';

const era = (process.env.EVERYTHING_ERA ?? 'dual') as ServedEra;
const changes = new EverythingChanges();
const factory = everythingFactory(changes);

if (process.env.EVERYTHING_TRANSPORT === 'http') {
  const served = await serveOverHttp(factory, { era, port: Number(process.env.PORT ?? 0) });
  changes.publish = served.notify;
  process.stdout.write(`${served.url}\n`);
} else {
  await serveOverStdio(factory, era);
}
