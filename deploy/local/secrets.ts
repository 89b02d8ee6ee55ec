import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/** Opens a file of secrets (JSON, mode 600) that grows by one entry whenever a new name is asked for. */
export function openSecrets(file: string): { secret(name: string): string; key(name: string): string } {
  return {
    // nats-server reads a value out of the environment as its own syntax: a leading digit would make it a number.
    secret: (name) => keep(file, name, () => `s${randomBytes(24).toString('hex')}`),
    key: (name) => keep(file, name, () => randomBytes(32).toString('base64')),
  }
}

function read(file: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Error(
      `${file} cannot be read as JSON. It holds the local passwords; restore it or remove it together with the data beside it.`,
      { cause: error },
    )
  }
}

function keep(file: string, name: string, make: () => string): string {
  // Read anew each time: others may have added to it.
  const known = read(file)
  const existing = known[name]
  if (existing !== undefined) return existing
  const made = make()
  known[name] = made
  // Whole or not at all: a half-written file would lock the newcomer out of the data.
  writeFileSync(`${file}.new`, JSON.stringify(known, null, 2) + '\n', { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return made
}
