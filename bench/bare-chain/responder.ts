// The second half of the chains. The bare one makes a single-row INSERT for each request. The evented one stores the
// state of a user and two events in one statement, answers, and publishes both events to a stream of its own.
// The token chain signs a JWT, stores its hash and one event in one statement, answers, and publishes the event.
// The chains of people do the same for an access token and an ID token: with the events of a code that is redeemed, or of a
// refresh; and for a session, after the hash of a password.
// The echo chain answers from memory, with as many bytes as GetUser.
import { createHash, randomUUID } from 'node:crypto'
import { generateKeyPair, SignJWT } from 'jose'
import { connect } from 'nats'
import postgres from 'postgres'
import { hashPassword } from '../../services/users/directory/passwords/password-hashing.ts'

const sql = postgres(process.env['BENCH_DATABASE_URL']!)
const { host, username, password } = new URL(process.env['BENCH_NATS_URL']!)
const nats = await connect({ servers: host, user: username, pass: password })
const stream = nats.jetstream()
const answer = Buffer.from('{"ok":true}')
const user = Buffer.alloc(600, ' ').fill('{"ok":true}', 0, 11)

nats.subscribe('bench.bare', {
  queue: 'bench',
  callback: (_error, message) => {
    // The text of PostgreSQL holds no NUL, and an empty message of protobuf is one.
    sql`insert into bench.bare (body) values (${message.string().replaceAll('\0', '')})`.then(
      () => message.respond(answer),
      (error: unknown) => console.error(error),
    )
  },
})
nats.subscribe('bench.evented', {
  queue: 'bench',
  callback: (_error, message) => {
    const { userId, email } = message.json<{ userId: string; email: string }>()
    setAddress(userId, email)
      .then(async (positions) => {
        message.respond(answer)
        await Promise.all(positions.map(({ position }) => announce(position, userId, email)))
      })
      .catch((error: unknown) => console.error(error))
  },
})
const { privateKey } = await generateKeyPair('ES256')
nats.subscribe('bench.minted', {
  queue: 'bench',
  callback: (_error, message) => {
    const form = new URLSearchParams(message.string())
    mint(form.get('client_id')!, form.get('client_secret')!)
      .then(async ({ token, position, userId }) => {
        message.respond(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3600 }))
        await announce(position, userId, '')
      })
      .catch((error: unknown) => console.error(error))
  },
})
const rsa = await generateKeyPair('RS256')
const ofPeople: Record<string, (userId: string) => Promise<Stored>> = {
  granted: (userId) => giveTokens(userId, randomUUID(), ['authorization.granted', 'authorization.redeemed']),
  renewed: (userId) => giveTokens(userId, `of ${userId}`, ['authorization.refreshed']),
  async proved(userId) {
    await hashPassword('the password of a bench')
    return { answer: '{}', positions: await keep(randomUUID(), ['session.begun'], { userId }) }
  },
}
for (const [name, act] of Object.entries(ofPeople))
  nats.subscribe(`bench.${name}`, {
    queue: 'bench',
    callback: (_error, message) => {
      const userId = message.string()
      act(userId)
        .then(async ({ answer, positions }) => {
          message.respond(answer)
          await Promise.all(positions.map(({ position }) => announce(position, userId, '')))
        })
        .catch((error: unknown) => console.error(error))
    },
  })
nats.subscribe('bench.echo', { queue: 'bench', callback: (_error, message) => void message.respond(user) })
await nats.flush()
console.log('ready')

function setAddress(userId: string, email: string) {
  const state = JSON.stringify({ email, isVerified: false })
  return sql<{ position: string }[]>`
    with changed as (
      insert into bench.states (user_id, sequence, state) values (${userId}, 2, ${state}::text::jsonb)
      on conflict (user_id) do update set sequence = states.sequence + 2, state = excluded.state
      returning sequence
    )
    insert into bench.events (user_id, sequence, type, payload)
    select ${userId}, sequence - 1, 'email.changed', ${state}::text::jsonb from changed
    union all
    select ${userId}, sequence, 'email.code.returned', ${state}::text::jsonb from changed
    returning position
  `
}

async function mint(userId: string, secret: string) {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  const iat = Math.floor(Date.now() / 1000)
  const claims = {
    iss: 'bench',
    sub: userId,
    aud: ['bench'],
    client_id: userId,
    jti: randomUUID(),
    iat,
    exp: iat + 3600,
  }
  const token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k', typ: 'at+jwt' }).sign(privateKey)
  const [row] = await sql<[{ position: string }]>`
    with changed as (
      insert into bench.states (user_id, sequence, state) values (${userId}, 1, ${sql.json({ last: claims.jti })})
      on conflict (user_id) do update set sequence = states.sequence + 1, state = excluded.state
      returning sequence
    ), kept as (
      insert into bench.tokens (hash, user_id, secret) values (${hash(token)}, ${userId}, ${hash(secret)})
    )
    insert into bench.events (user_id, sequence, type, payload)
    select ${userId}, sequence, 'token.issued', ${sql.json({ tokenId: claims.jti })} from changed
    returning position
  `
  return { token, userId, position: row.position }
}

interface Stored {
  answer: string
  positions: { position: string }[]
}

async function giveTokens(userId: string, authorizationId: string, types: string[]): Promise<Stored> {
  const iat = Math.floor(Date.now() / 1000)
  const claims = { iss: 'bench', sub: userId, aud: ['bench'], iat, exp: iat + 3600 }
  const sign = (alg: string, key: typeof privateKey, more: object) =>
    new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg, kid: 'k' }).sign(key)
  const [access_token, id_token] = await Promise.all([
    sign('ES256', privateKey, { jti: randomUUID(), client_id: 'bench' }),
    sign('RS256', rsa.privateKey, { auth_time: iat, nonce: authorizationId }),
  ])
  const refresh_token = randomUUID()
  const positions = await keep(authorizationId, types, { userId }, refresh_token)
  return { answer: JSON.stringify({ access_token, id_token, refresh_token, token_type: 'Bearer' }), positions }
}

/** Keeps the state of an object, its events, and a token of it. */
function keep(id: string, types: string[], state: object, token?: string) {
  const hash = token === undefined ? null : createHash('sha256').update(token).digest()
  return sql<{ position: string }[]>`
    with changed as (
      insert into bench.states (user_id, sequence, state) values (${id}, ${types.length}, ${JSON.stringify(state)}::text::jsonb)
      on conflict (user_id) do update set sequence = states.sequence + ${types.length}, state = excluded.state
      returning sequence
    ), kept as (
      insert into bench.tokens (hash, user_id, secret)
      select ${hash}::bytea, ${id}, ''::bytea where ${hash}::bytea is not null
    )
    insert into bench.events (user_id, sequence, type, payload)
    select ${id}, sequence - ${types.length} + at, type, ${JSON.stringify(state)}::text::jsonb
    from changed, unnest(${types}::text[]) with ordinality as of_types (type, at)
    returning position
  `
}

function announce(position: string, userId: string, email: string) {
  return stream.publish(`bench.events.${userId}`, JSON.stringify({ userId, email }), { msgID: position })
}

process.on('SIGTERM', () => process.exit(0))
