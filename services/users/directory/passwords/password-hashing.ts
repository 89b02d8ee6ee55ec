import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { RosterError } from '#lib/errors'
import { createFairSemaphore, type Place } from '#lib/fair-semaphore'

// OWASP's first choice for Argon2id: 19 MiB, two passes, one lane.
const parameters = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }

const argon2Async = promisify(argon2)

// Each computation takes 19 MiB and one of the four threads that Node also uses for files and host names.
const through = createFairSemaphore(
  { atOnce: Math.min(3, availableParallelism()), waiting: 200 },
  () =>
    new RosterError('RESOURCE_EXHAUSTED', 'PASSWORDS_THROTTLED', 'Too many passwords are waiting for their check.', {
      retryAfter: 5,
    }),
)

/** Argon2id in the PHC string format, with a random salt. Throws as the semaphore does. */
export async function hashPassword(password: string, place: Place = { lane: '' }): Promise<string> {
  const salt = randomBytes(16)
  return format(salt, await through(place, () => derive(password, salt, parameters)))
}

/** Whether the password matches the hash. Without a hash it works as long and says no. Throws as the semaphore does. */
export async function verifyPassword(
  password: string,
  hash: string | undefined,
  place: Place = { lane: '' },
): Promise<boolean> {
  const { salt, tag, ...rest } = parse(hash ?? unmatchable)
  const derived = await through(place, () => derive(password, salt, { ...rest, tagLength: tag.length }))
  return timingSafeEqual(derived, tag) && hash !== undefined
}

function derive(password: string, salt: Buffer, chosen: typeof parameters): Promise<Buffer> {
  return argon2Async('argon2id', { message: password.normalize('NFKC'), nonce: salt, ...chosen })
}

function format(salt: Buffer, tag: Buffer): string {
  const { memory, passes, parallelism } = parameters
  const encode = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`
}

function parse(hash: string) {
  const [, memory, passes, parallelism, salt, tag] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(hash) ?? []
  if (!salt || !tag) throw new Error('a stored password hash is no Argon2id hash')
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
}

const unmatchable = format(randomBytes(16), randomBytes(32))
