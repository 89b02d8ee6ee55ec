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

/** The pictures of a brand. */
export const kindsOfLogo = ['logo', 'darkLogo', 'icon'] as const
export type KindOfLogo = (typeof kindsOfLogo)[number]

/** Keeps the only logos of a policy: one of each kind at most. */
export function keepLogos(organizationId: string, logos: Partial<Record<KindOfLogo, Buffer>>): Write[] {
  const kept = Object.entries(logos)
  return [
    (sql) => sql`
      delete from logos where organization_id = ${organizationId} and kind <> all(${kept.map(([kind]) => kind)})
    `,
    ...kept.map(
      ([kind, logo]): Write =>
        (sql) =>
          sql`
          insert into logos (organization_id, kind, hash, content)
          values (${organizationId}, ${kind}, ${bytesOf(hashOf(logo))}, ${logo})
          on conflict (organization_id, kind) do update set hash = excluded.hash, content = excluded.content
        `,
    ),
  ]
}

function bytesOf(logoHash: string): Buffer {
  return Buffer.from(logoHash, 'base64url')
}
