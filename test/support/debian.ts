import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Downloads packages of Debian and unpacks them below `root` in a folder of their own. Nothing is installed. `probe`
 * throws where they do not run. Undefined where this machine cannot have them.
 */
export function unpackDebian(packages: string[], probe: (folder: string) => unknown): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'roster-debian-'))
  try {
    execFileSync('apt-get', ['download', ...packages], { cwd: folder, stdio: 'ignore', timeout: 120_000 })
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb')))
      execFileSync('dpkg', ['-x', join(folder, file), join(folder, 'root')])
    chmodSync(folder, 0o755)
    probe(folder)
    return folder
  } catch {
    rmSync(folder, { recursive: true })
    return undefined
  }
}

/** The environment in which programs of the folder find their libraries. */
export function environmentOf(folder: string): Record<string, string> {
  const libraries = ['usr/lib', 'lib'].map((name) => join(folder, 'root', name, 'x86_64-linux-gnu')).join(':')
  return { PATH: process.env['PATH'] ?? '', LD_LIBRARY_PATH: libraries }
}
