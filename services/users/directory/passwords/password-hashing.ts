import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { RosterError } from '#lib/errors'
import { createFairSemaphore, type Place } from '#lib/fair-semaphore'
import { standard, type Work, workOf } from '#lib/credentials/argon2-parameters'

const argon2Async = promisify(argon2)

// Each computation takes its memory, and one of the four threads that Node also uses for files and host names.
const through = createFairSemaphore(
  { atOnce: Math.min(3, availableParallelism()), waiting: 200 },
  () =>
    new RosterError('RESOURCE_EXHAUSTED', 'PASSWORDS_THROTTLED', 'Too many passwords are waiting for their check.', {
      retryAfter: 5,
    }),
)

/** What a check costs, whatever it checks. */
export interface Cost {
  /** The parameters that a check without a hash computes. */
  dearest: string
  /** What a check of a hash with these parameters computes beside that, so that it takes as long as with the dearest. */
  filler(parameters: string): Work | undefined
}

const onlyStandard: Cost = { dearest: standard, filler: () => undefined }

/** Argon2id in the PHC string format, with a random salt. Throws as the semaphore does. */
export async function hashPassword(
  password: string,
  place: Place = { lane: '' },
  parameters: string = standard,
): Promise<string> {
  const salt = randomBytes(16)
  return format(parameters, salt, await through(place, () => derive(password, salt, workOf(parameters)!)))
}

/** Whether the password matches the hash. Without a hash it works as long and says no. Throws as the semaphore does. */
export async function verifyPassword(
  password: string,
  hash: string | undefined,
  place: Place = { lane: '' },
  { dearest, filler }: Cost = onlyStandard,
): Promise<boolean> {
  const { parameters, work, salt, tag } = parse(hash ?? unmatchable(dearest))
  const more = filler(parameters)
  const derived = await through(place, async () => {
    const own = await derive(password, salt, work, tag.length)
    // Also where the password is wrong, or just that would be told.
    if (more) await derive(password, salt, more)
    return own
  })
  return timingSafeEqual(derived, tag) && hash !== undefined
}

/** Computes each of these in turn, in one place, so often, and returns the milliseconds that each took each time. */
export function timeWorks(works: Work[], rounds: number): Promise<number[][]> {
  const salt = randomBytes(16)
  return through({ lane: '', preferred: true }, async () => {
    const times: number[][] = []
    for (let round = 0; round < rounds; round++) {
      const taken: number[] = []
      for (const work of works) {
        const began = performance.now()
        await derive('none', salt, work)
        taken.push(performance.now() - began)
      }
      times.push(taken)
    }
    return times
  })
}

function derive(password: string, salt: Buffer, work: Work, tagLength = 32): Promise<Buffer> {
  return argon2Async('argon2id', { message: password.normalize('NFKC'), nonce: salt, ...work, tagLength })
}

function format(parameters: string, salt: Buffer, tag: Buffer): string {
  const encode = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  return `$argon2id$v=19$${parameters}$${encode(salt)}$${encode(tag)}`
}

function parse(hash: string) {
  const [, parameters = '', salt, tag] =
    /^\$argon2id\$v=19\$(m=\d+,t=\d+,p=\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(hash) ?? []
  const work = workOf(parameters)
  if (!work || !salt || !tag) throw new Error('a stored password hash is no Argon2id hash')
  return { parameters, work, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') }
}

const [noSalt, noTag] = [randomBytes(16), randomBytes(32)]
const unmatchable = (parameters: string) => format(parameters, noSalt, noTag)
