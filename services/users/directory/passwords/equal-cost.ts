import { type Work, workOf } from '#lib/credentials/argon2-parameters'
import { type Cost, timeWorks } from './password-hashing.ts'

/** The passes of a filler each take a fraction of a millisecond, and no memory that another check would lack. */
const fillerMemory = 256
const fillerWork = (passes: number): Work => ({ memory: fillerMemory, passes, parallelism: 1 })
const [oneFiller, longFiller] = [1, 65]

const roundsAtFirst = 5
/** The newest rounds count, so that a moment in which others kept the machine busy does not. */
const roundsAtMost = 30
/** Milliseconds between two rounds, until there are as many, and from then on. */
const [soon, every] = [5000, 60_000]

type Times = Map<string, number>

/**
 * Makes a check cost the same with each of several parameters: a check of a cheaper hash computes a filler, too. How long
 * Argon2id takes does not follow from memory and passes: above 32 MiB some C libraries ask the system for each page anew,
 * and a KiB then takes twice as long. So this times the parameters beside each other, and goes on while they are in use.
 * Where all hashes have the same, it times nothing.
 *
 * Not chosen: to compute each of the parameters for every check. It needs no times, and costs the sum of all for as long as
 * one person with a former hash stays away.
 */
export function createEqualCost(time: typeof timeWorks = timeWorks) {
  let rounds: Times[] = []
  let timedAt = -Infinity
  let isTiming = false

  async function add(parameters: string[], count: number): Promise<void> {
    const works = [...parameters.map((one) => workOf(one)!), fillerWork(oneFiller), fillerWork(longFiller)]
    const names = [...parameters, 'one', 'long']
    const times = await time(works, count)
    const added = times.map((round) => new Map(round.map((taken, index) => [names[index]!, taken])))
    rounds = [...rounds, ...added].slice(-roundsAtMost)
    timedAt = performance.now()
  }

  // No check waits for it.
  async function addLater(parameters: string[]): Promise<void> {
    const isDue = performance.now() - timedAt >= (rounds.length < roundsAtMost ? soon : every)
    if (isTiming || !isDue) return
    isTiming = true
    await add(parameters, 1).catch(() => {})
    isTiming = false
  }

  /** The cost of a check while hashes have these parameters. RESOURCE_EXHAUSTED PASSWORDS_THROTTLED. */
  return async function costOf(parameters: string[]): Promise<Cost> {
    const [only] = parameters
    if (parameters.length < 2) return { dearest: only!, filler: () => undefined }
    const complete = () => rounds.filter((round) => parameters.every((one) => round.has(one)))
    if (complete().length > 0) void addLater(parameters)
    else await add(parameters, roundsAtFirst)
    const timed = complete()
    const took = (name: string) => median(timed.map((round) => round.get(name)!))
    const dearest = parameters.toSorted((a, b) => took(b) - took(a))[0]!
    // A machine that is busy beyond measure makes no filler endless.
    const pass = Math.max((took('long') - took('one')) / (longFiller - oneFiller), 0.01)
    const passesOf = (one: string) => {
      const missing = median(timed.map((round) => round.get(dearest)! - round.get(one)!))
      return Math.round((missing - took('one')) / pass) + oneFiller
    }
    const fillers = new Map(parameters.map((one) => [one, one === dearest ? 0 : passesOf(one)]))
    return {
      dearest,
      filler(one) {
        const passes = fillers.get(one) ?? 0
        return passes > 0 ? fillerWork(passes) : undefined
      },
    }
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
