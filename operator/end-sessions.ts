import type { Called, Command } from './command.ts'
import type { System } from './system.ts'

export const sessionsEnd: Command = {
  name: 'sessions end',
  summary: 'Ends all sessions, access tokens and codes, as after a restore.',
  more: [
    'A restored backup brings back sessions that had ended, and codes that were used. users must not run meanwhile.',
    'Passwords, personal access tokens, keys and secrets of machines stay.',
    'Resource servers that verify JWT access tokens by themselves take them until they expire.',
  ],
  arguments: [0, 0],
  mayWrite: true,
  run,
}

async function run({ system, output, confirm }: Called): Promise<number> {
  await confirm('Everybody has to sign in again, machines need new access tokens, and mailed codes are dead.')
  const ended = await endSessions(system)
  if (output.isJson) await output.json({ ended })
  else output.line(`${ended} sessions and access tokens ended, and all codes.`)
  return 0
}

/** Ends all sessions, access tokens and codes. Returns the number of sessions and tokens. Throws while users runs. */
export async function endSessions(system: Pick<System, 'sql'>): Promise<number> {
  return system.sql('users').begin(async (sql) => {
    await sql`set local statement_timeout = 0`
    const [{ ended }] = await sql<[{ ended: number }]>`select end_sessions()::float8 as ended`
    return ended
  })
}
