import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a client remembers of one human: nothing but acknowledged writes and the ones that got no answer. */
export interface Remembered {
  userId: string
  /** The address of the last acknowledged write, and its sequence. */
  email: string
  sequence: number
  /** Whether the code of that write was to be mailed. */
  mailed: boolean
  /** Addresses of writes after it whose outcome is unknown. */
  doubtful: string[]
}

/** What a load did. */
export interface Load {
  acknowledged: number
  unanswered: number
  /** gRPC code and reason of each error answer, counted. */
  errors: Map<string, number>
  humans: Remembered[]
  /** Ends the load; resolves when its last call has ended. */
  stop(): Promise<void>
}

/** Several writers in a closed loop, each with humans of its own: creations, then changes of address, mailed and returned. */
export function startLoad(url: string, token: string, writers = 8): Load {
  const stopped = new AbortController()
  const load: Load = { acknowledged: 0, unanswered: 0, errors: new Map(), humans: [], stop }
  const loops = Array.from({ length: writers }, write)

  async function stop() {
    stopped.abort()
    await Promise.all(loops)
  }

  async function write() {
    while (!stopped.signal.aborted) {
      const human = await create()
      if (!human) continue
      for (const returned of [true, false, true, false]) if (!stopped.signal.aborted) await change(human, returned)
    }
  }

  async function create(): Promise<Remembered | undefined> {
    const userId = randomUUID()
    const email = `${randomUUID()}@example.com`
    const answer = await post('/v2/users/human', {
      userId,
      userName: userId,
      profile: { firstName: 'Ada', lastName: 'Lovelace' },
      email: { email },
    })
    if (answer === undefined) return undefined
    const human = { userId, email, sequence: Number(answer.details.sequence), mailed: true, doubtful: [] }
    load.humans.push(human)
    return human
  }

  async function change(human: Remembered, returned: boolean) {
    const email = `${randomUUID()}@example.com`
    const answer = await post(`/v2/users/${human.userId}/email`, { email, ...(returned && { returnCode: {} }) })
    if (answer === undefined) return void human.doubtful.push(email)
    Object.assign(human, { email, sequence: Number(answer.details.sequence), mailed: !returned, doubtful: [] })
  }

  async function post(path: string, body: object): Promise<{ details: { sequence: string } } | undefined> {
    try {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(20_000),
      })
      const answer = (await response.json()) as any
      if (response.ok) {
        load.acknowledged++
        return answer
      }
      const error = `${answer.code} ${answer.details[0].reason}`
      load.errors.set(error, (load.errors.get(error) ?? 0) + 1)
    } catch {
      load.unanswered++
    }
    // As a client does that is told to come again.
    await sleep(50)
    return undefined
  }

  return load
}
