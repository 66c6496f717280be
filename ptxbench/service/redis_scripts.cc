// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/redis_scripts.h"

namespace weft::service::redis_scripts {

const char* const kSubmit = R"lua(
local state = redis.call('HGET', KEYS[1], 'state')
if state and state ~= 'cancelled' then return 'known' end
if tonumber(redis.call('HGET', KEYS[3], 'pending') or '0') >= tonumber(ARGV[7]) then return 'full' end
local entry = redis.call('XADD', KEYS[2], '*', 'id', ARGV[1])
if state then
  redis.call('HINCRBY', KEYS[3], 'cancelled', -1)
else
  redis.call('HSET', KEYS[1], 'kind', ARGV[2], 'definition', ARGV[3], 'solution', ARGV[4],
             'request', ARGV[5], 'attempts', 0, 'history', '', 'result', '')
end
redis.call('HSET', KEYS[1], 'state', 'pending', 'entry', entry, 'created', ARGV[6], 'claim', '',
           'deaths', 0, 'started', 0, 'finished', 0, 'error', '')
redis.call('HINCRBY', KEYS[3], 'pending', 1)
return 'fresh'
)lua";

const char* const kStart = R"lua(
local task = redis.call('HMGET', KEYS[1], 'state', 'entry', 'attempts', 'deaths')
local function drop()
  redis.call('XACK', KEYS[2], 'judges', ARGV[3])
  redis.call('XDEL', KEYS[2], ARGV[3])
end
if task[2] ~= ARGV[3] or (task[1] ~= 'pending' and task[1] ~= 'running') then
  drop()
  return false
end
if task[1] == 'running' then
  if ARGV[4] ~= '1' then return false end
  local history = redis.call('HGET', KEYS[1], 'history') .. 'attempt ' .. task[3] ..
                  ': nobody renewed the claim\n'
  local deaths = redis.call('HINCRBY', KEYS[1], 'deaths', 1)
  redis.call('HSET', KEYS[1], 'history', history)
  redis.call('HINCRBY', KEYS[3], 'running', -1)
  if deaths >= tonumber(ARGV[5]) then
    redis.call('HSET', KEYS[1], 'state', 'failed', 'claim', '', 'finished', ARGV[2],
               'error', deaths .. ' workers died over this task\n' .. history)
    redis.call('HINCRBY', KEYS[3], 'failed', 1)
    drop()
    redis.call('PUBLISH', ARGV[6], 'ended')
    return false
  end
else
  redis.call('HINCRBY', KEYS[3], 'pending', -1)
end
redis.call('HINCRBY', KEYS[3], 'running', 1)
redis.call('HSET', KEYS[1], 'state', 'running', 'claim', ARGV[1], 'started', ARGV[2])
local attempts = redis.call('HINCRBY', KEYS[1], 'attempts', 1)
local more = redis.call('HMGET', KEYS[1], 'request', 'created')
return {more[1], tostring(attempts), more[2]}
)lua";

const char* const kRenew = R"lua(
local task = redis.call('HMGET', KEYS[1], 'claim', 'entry', 'state')
if task[1] ~= ARGV[1] or task[3] ~= 'running' then return 0 end
redis.call('XCLAIM', KEYS[2], 'judges', ARGV[2], 0, task[2], 'JUSTID')
return 1
)lua";

const char* const kEnd = R"lua(
local task = redis.call('HMGET', KEYS[1], 'claim', 'entry', 'state')
if task[1] ~= ARGV[1] or task[3] ~= 'running' then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[2], 'result', ARGV[3], 'error', ARGV[4],
           'finished', ARGV[5], 'claim', '')
redis.call('XACK', KEYS[2], 'judges', task[2])
redis.call('XDEL', KEYS[2], task[2])
redis.call('HINCRBY', KEYS[3], 'running', -1)
redis.call('HINCRBY', KEYS[3], ARGV[2], 1)
redis.call('PUBLISH', ARGV[6], 'ended')
return 1
)lua";

const char* const kRelease = R"lua(
local task = redis.call('HMGET', KEYS[1], 'claim', 'entry', 'state', 'attempts', 'history')
if task[1] ~= ARGV[1] or task[3] ~= 'running' then return 0 end
redis.call('XACK', KEYS[2], 'judges', task[2])
redis.call('XDEL', KEYS[2], task[2])
redis.call('HINCRBY', KEYS[3], 'running', -1)
if ARGV[2] ~= '' then
  local history = task[5] .. 'attempt ' .. task[4] .. ': ' .. ARGV[2] .. '\n'
  local deaths = redis.call('HINCRBY', KEYS[1], 'deaths', 1)
  redis.call('HSET', KEYS[1], 'history', history)
  if deaths >= tonumber(ARGV[3]) then
    redis.call('HSET', KEYS[1], 'state', 'failed', 'claim', '', 'finished', ARGV[4],
               'error', deaths .. ' workers died over this task\n' .. history)
    redis.call('HINCRBY', KEYS[3], 'failed', 1)
    redis.call('PUBLISH', ARGV[5], 'ended')
    return 1
  end
end
local entry = redis.call('XADD', KEYS[2], '*', 'id', ARGV[6])
redis.call('HSET', KEYS[1], 'state', 'pending', 'claim', '', 'entry', entry)
redis.call('HINCRBY', KEYS[3], 'pending', 1)
return 1
)lua";

const char* const kCancel = R"lua(
local task = redis.call('HMGET', KEYS[1], 'state', 'entry')
if not task[1] then return false end
if task[1] ~= 'pending' and task[1] ~= 'running' then return task[1] end
redis.call('XACK', KEYS[2], 'judges', task[2])
redis.call('XDEL', KEYS[2], task[2])
redis.call('HINCRBY', KEYS[3], task[1], -1)
redis.call('HINCRBY', KEYS[3], 'cancelled', 1)
redis.call('HSET', KEYS[1], 'state', 'cancelled', 'claim', '', 'finished', ARGV[1],
           'error', 'cancelled')
redis.call('PUBLISH', ARGV[2], 'ended')
return 'cancelled'
)lua";

}  // namespace weft::service::redis_scripts
