// The second half of the chains. The bare one makes a single-row INSERT for each request. The evented one stores the
// state of a user and two events in one statement, answers, and publishes both events to a stream of its own.
// The token chain signs a JWT, stores its hash and one event in one statement, answers, and publishes the event.
// The echo chain answers from memory, with as many bytes as GetUser.
import { createHash, randomUUID } from 'node:crypto'
import { generateKeyPair, SignJWT } from 'jose'
import { connect } from 'nats'
import postgres from 'postgres'

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

function announce(position: string, userId: string, email: string) {
  return stream.publish(`bench.events.${userId}`, JSON.stringify({ userId, email }), { msgID: position })
}

process.on('SIGTERM', () => process.exit(0))
