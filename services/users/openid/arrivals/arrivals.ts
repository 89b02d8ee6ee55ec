import { v7 as uuid } from 'uuid'
import { BriefMap } from '#lib/brief-map'
import type { Sql } from '#lib/database/database'
import type { Log } from '#lib/log'
import type { Service } from '#lib/process'
import { createBucket, createRecent, wait, wear } from '#lib/token-bucket'
import type { Arrivals, Step } from '../../context.ts'
import { networkOf } from '../../directory/rate-limits/token-buckets.ts'
import { type Counted, keepRefusals, keepSteps } from './arrival-rows.ts'

/** Milliseconds. */
const every = 1000
/** Of each kind that wait. */
const most = 10_000
// Of a sender an application may have thirty rows at once, and then two a minute: a flood would else push out what came before
// it, and a stranger's keep away that of the developer. Of all senders ten times that.
const [rateOfSender, rateOfAll, burst] = [1 / 30, 1 / 3, 900]

/** Opens the notes of arrivals. However much comes, a second has three statements, and a sign-in has none of its own. */
export function openArrivals(sql: Sql, log: Log): Arrivals & Service {
  const steps = new BriefMap<string, { clientId: string; step: Step }>()
  const refusals = new BriefMap<string, Counted>()
  /** Refusals that found no place, by client. */
  const leftOut = new BriefMap<string, number>()
  const bucketOf = createRecent(createBucket, burst * 1000)

  async function store() {
    try {
      await keepSteps(sql, take(steps))
      await keepRefusals(sql, take(refusals))
    } catch (err) {
      log.warn({ err }, 'arrivals at applications are not kept')
    }
  }

  function hasPlace(clientId: string, address: string): boolean {
    const now = performance.now()
    const rates = [
      { bucket: bucketOf(`${clientId} ${networkOf(address) ?? address}`, now), rate: rateOfSender },
      { bucket: bucketOf(clientId, now), rate: rateOfAll },
    ]
    for (const { bucket, rate } of rates) wear(bucket, rate, now, burst)
    if (refusals.size >= most || rates.some(({ bucket, rate }) => wait(bucket, rate, 1, burst) > 0)) return false
    for (const { bucket } of rates) bucket.used++
    return true
  }

  let storing = Promise.resolve()
  const timer = setInterval(() => (storing = storing.then(store)), every)
  timer.unref()
  return {
    step(clientId, step) {
      if (steps.size < most) steps.set(`${step} ${clientId}`, { clientId, step })
    },
    refuse(refusal, address) {
      const { clientId, cause, parameter, sent, description } = refusal
      const key = JSON.stringify([clientId, cause, parameter, sent, description])
      const known = refusals.get(key)
      if (known) return void known.count++
      const others = leftOut.get(clientId) ?? 0
      if (!hasPlace(clientId, address)) {
        if (others > 0 || leftOut.size < most) leftOut.set(clientId, others + 1)
        return
      }
      leftOut.delete(clientId)
      refusals.set(key, { ...refusal, id: uuid(), count: 1, leftOut: others })
    },
    async stop() {
      clearInterval(timer)
      await storing.then(store)
    },
  }
}

function take<Value>(waiting: BriefMap<string, Value>): Value[] {
  const taken = [...waiting.values()]
  for (const key of Array.from(waiting.keys())) waiting.delete(key)
  return taken
}
