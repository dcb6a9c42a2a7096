// The client library of Redis, loaded with the first client: who has no Redis should not wait for it at start.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
let loaded: typeof import('ioredis') | undefined;

export function redisClient(): typeof import('ioredis').Redis {
  loaded ??= require('ioredis') as typeof import('ioredis');
  return loaded.Redis;
}
