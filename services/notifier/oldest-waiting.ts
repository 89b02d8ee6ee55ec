import type { Job, Queue } from 'bullmq'
import type { Redis } from 'ioredis'

// Returns the number of the job that came first, of up to 10,000 at each end of the queue, its id, and the last number.
// BullMQ's score is the priority in the upper 32 bits and such a number in the lower ones.
const script = `
  local first, id
  local function look(jobs)
    for at = 1, #jobs, 2 do
      local number = tonumber(jobs[at + 1]) % 4294967296
      if not first or number < first then first, id = number, jobs[at] end
    end
  end
  look(redis.call('ZRANGE', KEYS[1], 0, 9999, 'WITHSCORES'))
  if redis.call('ZCARD', KEYS[1]) > 10000 then look(redis.call('ZREVRANGE', KEYS[1], 0, 9999, 'WITHSCORES')) end
  return { first or -1, id or '', tonumber(redis.call('GET', KEYS[2]) or '0') }
`

/**
 * Looks since when the job has waited for a worker that has waited longest: Unix time in milliseconds, undefined where
 * none waits. Among jobs with priorities, the next one may be young and others old. A job that comes again counts from
 * then on: it rested meanwhile.
 */
export function watchOldest(queue: Queue, redis: Redis): () => Promise<number | undefined> {
  // The last number that was given to a job, by the time of each look. So a number shows when its job came.
  let looks: { at: number; last: number }[] = []

  async function ofPrioritized(): Promise<number | undefined> {
    const found = await redis.eval(script, 2, queue.toKey('prioritized'), queue.toKey('pc'))
    const [first, id, last] = found as [number, string, number]
    // BullMQ begins at 1 again where no job waits.
    if (first < 0 || last < (looks.at(-1)?.last ?? 0)) looks = []
    looks.push({ at: Date.now(), last })
    if (first < 0) return undefined
    looks = looks.slice(looks.findIndex((one) => one.last >= first))
    return timeOf(await queue.getJob(id)) ?? looks[0]!.at
  }

  return async () => {
    const [next] = await queue.getJobs(['wait'], 0, 0, true)
    const times = [await ofPrioritized(), timeOf(next)].filter((time) => time !== undefined)
    return times.length > 0 ? Math.min(...times) : undefined
  }
}

// Undefined for a job that was taken before.
function timeOf(job: Job | undefined): number | undefined {
  return job && job.attemptsStarted === 0 ? job.timestamp + (job.opts.delay ?? 0) : undefined
}
