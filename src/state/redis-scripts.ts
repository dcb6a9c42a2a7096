// What Redis does in one step. Lua, so that deciding and counting are one: nothing is refunded, since nothing is taken
// where something refuses.

/**
 * KEYS: counters. ARGV: amount, max, window in ms for each.
 * Returns {0, 0} where all was taken, else {place of the take that waits longest, ms}.
 */
export const TAKE = `
local refused, wait = 0, -1
for i, key in ipairs(KEYS) do
  local amount, max, window = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  if tonumber(redis.call('GET', key) or '0') + amount > max then
    local left = redis.call('PTTL', key)
    if left == -1 then redis.call('PEXPIRE', key, window) end
    if left < 0 then left = window end
    if left > wait then refused, wait = i, left end
  end
end
if refused > 0 then return {refused, wait} end
for i, key in ipairs(KEYS) do
  local amount = tonumber(ARGV[3 * i - 2])
  if redis.call('INCRBY', key, amount) == amount then redis.call('PEXPIRE', key, ARGV[3 * i]) end
end
return {0, 0}
`;

/** KEYS: a counter. ARGV: amount, max, window in ms. Returns {granted, ms to the end of the window}. */
export const TAKE_UP_TO = `
local amount, max, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local granted = math.min(amount, math.max(0, max - used))
if granted > 0 then redis.call('INCRBY', KEYS[1], granted) end
local left = redis.call('PTTL', KEYS[1])
if left == -1 then
  redis.call('PEXPIRE', KEYS[1], window)
  left = window
end
if left < 0 then left = window end
return {granted, left}
`;

/** Drops what is older from a sorted set; a key of another kind is nothing of ours, and would be in the way for ever. */
export const DROP_OLDER = `
local function drop(key, before)
  local dropped = redis.pcall('ZREMRANGEBYSCORE', key, '-inf', before)
  if type(dropped) ~= 'table' then return end
  if string.find(dropped.err, 'WRONGTYPE') then redis.call('DEL', key) end
  -- As any other error has to be heard.
  redis.call('ZREMRANGEBYSCORE', key, '-inf', before)
end
`;

/**
 * KEYS: the set of replicas, by when each was last heard. ARGV: this replica, ms for which its word counts.
 * Returns how many there are. By the clock of Redis, so that those of the replicas may differ.
 */
export const ANNOUNCE = `${DROP_OLDER}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
drop(KEYS[1], now - ARGV[2])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
`;

/**
 * KEYS: the texts of replicas, by when each was last said. ARGV: the text of this one, ms for which it counts, most that
 * are read. Returns texts and times in turn, the latest first. By the clock of Redis, as above.
 */
export const ANNOUNCE_REPLICA = `${DROP_OLDER}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
drop(KEYS[1], now - ARGV[2])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZREVRANGE', KEYS[1], 0, ARGV[3] - 1, 'WITHSCORES')
`;
