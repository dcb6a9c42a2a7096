// The everything-server as a process. `SERVED_ERA` is dual (the default), modern or legacy; with
// `SERVED_OVER=http` it prints its URL on one line once it listens on `PORT` (default: a free one), else it is stdio.
import { EverythingChanges } from './everything-changes.ts';
import { everythingFactory } from './everything-factory.ts';
import { announce } from './sdk-listen.ts';
import { type ServedEra, serveOverHttp, serveOverStdio } from './sdk-serve.ts';

const era = (process.env.SERVED_ERA ?? 'dual') as ServedEra;
const changes = new EverythingChanges();
const factory = everythingFactory(changes);

if (process.env.SERVED_OVER === 'http') {
  const served = await serveOverHttp(factory, { era, port: Number(process.env.PORT ?? 0) });
  changes.publish = served.notify;
  announce(served.url);
} else {
  await serveOverStdio(factory, era);
}
