import type { Sql } from '#lib/database/database'

/**
 * Watches the statements that change or delete rows of a table. Returns a function that returns the most rows of one.
 */
export async function watchPortions(sql: Sql, table: string): Promise<() => Promise<number>> {
  await sql.unsafe(`
    create table portions (count bigint);
    create function note() returns trigger language plpgsql as $$
    begin
      insert into portions select count(*) from touched;
      return null;
    end $$;
    create trigger changed after update on ${table} referencing new table as touched
      for each statement execute function note();
    create trigger deleted after delete on ${table} referencing old table as touched
      for each statement execute function note()
  `)
  return async () => {
    const [row] = await sql<[{ most: number }]>`select max(count)::int as most from portions`
    return row.most
  }
}
