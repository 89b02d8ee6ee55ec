import { hash } from 'node:crypto'
import { orUnavailable, type Sql, type Write } from '#lib/database/database'

/** Names a logo by its content. */
export function hashOf(logo: Buffer): string {
  return hash('sha256', logo, 'base64url')
}

/** The logo of some policy, by its hash; empty where none has it any more. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findLogo(sql: Sql, logoHash: string): Promise<Buffer> {
  const [row] = await orUnavailable(sql<{ content: Buffer }[]>`
    select content from logos where hash = ${bytesOf(logoHash)} limit 1
  `)
  return row?.content ?? Buffer.alloc(0)
}

/** Keeps the only logo of a policy. */
export function keepLogo(organizationId: string, logo: Buffer): Write {
  return (sql) => sql`
    insert into logos (organization_id, hash, content) values (${organizationId}, ${bytesOf(hashOf(logo))}, ${logo})
    on conflict (organization_id) do update set hash = excluded.hash, content = excluded.content
  `
}

export function withoutLogo(organizationId: string): Write {
  return (sql) => sql`delete from logos where organization_id = ${organizationId}`
}

function bytesOf(logoHash: string): Buffer {
  return Buffer.from(logoHash, 'base64url')
}
