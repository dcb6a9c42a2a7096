// What Redis does with sessions in one step. A session is a text under its key, which begins with its owner; besides,
// each is in two sorted sets by when it ends, those of all and of its principal, so that caps hold across replicas.
// KEYS of all but `replaceSession`: the session, all sessions, its principal's.

import { DROP_OLDER } from './redis-scripts.ts';

/** By the clock of Redis. A set lives as long as what ends last in it. */
const NOTE_END = `
local function note(member, lives)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  for i = 2, 3 do
    redis.call('ZADD', KEYS[i], now + lives, member)
    if redis.call('PTTL', KEYS[i]) < lives then redis.call('PEXPIRE', KEYS[i], lives) end
  end
end
`;

/** A value of another kind is nothing of ours: it is as absent. */
const TEXT = `
local function text()
  local value = redis.pcall('GET', KEYS[1])
  if type(value) ~= 'table' then return value end
  return not string.find(value.err, 'WRONGTYPE') and redis.call('GET', KEYS[1])
end
local function begins(value, start) return string.sub(value, 1, #start) == start end
`;

/** ARGV: its text, its member, ms that it lives, caps of all and of its principal. Returns whether there was room. */
export const CREATE_SESSION = `${NOTE_END}${DROP_OLDER}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, 3 do
  drop(KEYS[i], now)
  if redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[i + 2]) then return 0 end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
note(ARGV[2], tonumber(ARGV[3]))
return 1
`;

/** ARGV: how it begins where it lives here, its member, ms that it lives from now on. Returns gone, moved or kept. */
export const TOUCH_SESSION = `${NOTE_END}${TEXT}
local value = text()
if not value then
  for i = 2, 3 do redis.call('ZREM', KEYS[i], ARGV[2]) end
  return 'gone'
end
if not begins(value, ARGV[1]) then return 'moved' end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
note(ARGV[2], tonumber(ARGV[3]))
return 'kept'
`;

/** ARGV: how it has to begin, its text from now on. Returns the text that is there now, or nil. */
export const REPLACE_SESSION = `${TEXT}
local value = text()
if not value or not begins(value, ARGV[1]) then return value end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return ARGV[2]
`;

/** ARGV: how it has to begin, its member. Returns whether it is no more. */
export const REMOVE_SESSION = `${TEXT}
local value = text()
if value and not begins(value, ARGV[1]) then return 0 end
redis.call('DEL', KEYS[1])
for i = 2, 3 do redis.call('ZREM', KEYS[i], ARGV[2]) end
return 1
`;
