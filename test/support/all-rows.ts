import type { Sql } from '#lib/database/database'

/** Every row of every table of the service, as text, by table: what a dump of its schema has. */
export async function allRows(sql: Sql): Promise<Map<string, string>> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = current_schema() order by 1
  `
  const all = new Map<string, string>()
  for (const { name } of tables) {
    const rows = await sql<{ text: string }[]>`select t::text as text from ${sql(name)} t`
    all.set(name, rows.map(({ text }) => text).join('\n'))
  }
  return all
}

/** The tables in which one of these texts can be read, also in other letters, in base64 or in hex. */
export async function tablesWith(sql: Sql, texts: string[]): Promise<string[]> {
  const forms = texts.flatMap((text) => {
    const bytes = Buffer.from(text)
    return [
      text.toLowerCase(),
      bytes.toString('hex'),
      bytes.toString('base64').replace(/=+$/, '').slice(0, -1).toLowerCase(),
    ]
  })
  const rows = [...(await allRows(sql))]
  return rows.flatMap(([table, text]) => (forms.some((form) => text.toLowerCase().includes(form)) ? [table] : []))
}
