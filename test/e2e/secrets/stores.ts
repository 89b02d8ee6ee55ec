import { Redis } from 'ioredis'
import { connect } from 'nats'
import postgres from 'postgres'

/** Every row of every table, as text. Leaves out PostgreSQL's own schemas. */
export async function dumpPostgres(url: string): Promise<string> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    const tables = await sql<{ schema: string; name: string }[]>`
      select table_schema as schema, table_name as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
    `
    const dumps: string[] = []
    for (const { schema, name } of tables) {
      const rows = await sql<{ text: string }[]>`select t::text as text from ${sql(schema)}.${sql(name)} t`
      dumps.push(`${schema}.${name}`, ...rows.map(({ text }) => text))
    }
    return dumps.join('\n')
  } finally {
    await sql.end()
  }
}

/** Every message of every stream, with subject and headers. */
export async function dumpNats(url: string): Promise<string> {
  const { host, username, password } = new URL(url)
  const connection = await connect({
    servers: host,
    ...(username && { user: username, pass: decodeURIComponent(password) }),
  })
  const dumps: string[] = []
  try {
    const manager = await connection.jetstreamManager()
    for await (const { config, state } of manager.streams.list()) {
      dumps.push(JSON.stringify(config))
      if (state.messages === 0) continue
      const consumer = await connection.jetstream().consumers.get(config.name)
      const messages = await consumer.consume()
      for await (const message of messages) {
        const headers = message.headers?.keys().map((key) => `${key}: ${message.headers!.values(key).join()}`) ?? []
        dumps.push(message.subject, ...headers, message.string())
        if (message.info.pending === 0) break
      }
    }
    return dumps.join('\n')
  } finally {
    await connection.close()
  }
}

/** Every key with its value. */
export async function dumpRedis(url: string): Promise<string> {
  const redis = new Redis(url)
  const dumps: string[] = []
  try {
    for await (const keys of redis.scanStream({ count: 500 }))
      for (const key of keys) dumps.push(key, await readValue(redis, key))
    return dumps.join('\n')
  } finally {
    redis.disconnect()
  }
}

async function readValue(redis: Redis, key: string): Promise<string> {
  const readers: Record<string, () => Promise<unknown>> = {
    string: () => redis.get(key),
    hash: () => redis.hgetall(key),
    list: () => redis.lrange(key, 0, -1),
    set: () => redis.smembers(key),
    zset: () => redis.zrange(key, '0', '-1'),
    stream: () => redis.xrange(key, '-', '+'),
    // The key disappeared in the meantime.
    none: async () => '',
  }
  const type = await redis.type(key)
  const read = readers[type]
  if (!read) throw new Error(`no function reads a ${type}`)
  return JSON.stringify(await read())
}
