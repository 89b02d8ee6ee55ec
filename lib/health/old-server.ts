/** The oldest servers that Roster works with. A test holds them against the table in docs/operations.md. */
export const oldest = { PostgreSQL: '15', NATS: '2.9.10', Redis: '6.2' } as const

/** The error of a server that is too old. */
export class OldServer extends Error {
  constructor(server: keyof typeof oldest, version: string) {
    super(`${server} ${version} is too old: Roster needs ${server} ${oldest[server]} or newer (docs/operations.md).`)
  }
}

/** Throws where a server is too old, by what it says of its version: `15.18 (Debian 15.18-1)`, `2.12.0-RC.1`. */
export function refuseOld(server: keyof typeof oldest, said: string): void {
  if (isOlder(said, oldest[server])) throw new OldServer(server, versionIn(said))
}

/** Whether what a server says of its version is older than this one. */
export function isOlder(said: string, than: string): boolean {
  const [is, needed] = [versionIn(said), than].map((text) => text.split('.').map(Number))
  const place = needed!.findIndex((number, index) => number !== (is![index] ?? 0))
  return place >= 0 && (is![place] ?? 0) < needed![place]!
}

function versionIn(said: string): string {
  return /^[\d.]+/.exec(said)?.[0] ?? said
}
