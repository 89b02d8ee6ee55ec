import { execFile, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectRoot } from '../../deploy/local/home.ts'

const run = promisify(execFile)

/** The release before this one, as package.json names it. */
export const { formerRelease } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  formerRelease: { version: string; commit: string; functions: string[] }
}

/** Why the former release cannot be had here. Undefined where it can. */
export function whyNoFormerRelease(): string | undefined {
  const { commit, version } = formerRelease
  const { status } = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: projectRoot })
  if (status === 0) return undefined
  return `this clone lacks the commit of ${version}, ${commit.slice(0, 7)}: git fetch --unshallow`
}

/** The hashes of its functions of the schemas. */
export function functionsOf(folder: string): string[] {
  const files = globSync('{lib/eventstore,services/*/migrations}/functions.sql', { cwd: folder })
  return files.map((file) => hash('sha256', readFileSync(join(folder, file)))).toSorted()
}

/** Checks the former release out into a temporary folder, with the packages of this one, and generates its code. */
export async function checkOutFormerRelease(): Promise<{ folder: string; remove(): Promise<void> }> {
  const parent = mkdtempSync(join(tmpdir(), 'roster-former-'))
  const folder = join(parent, 'roster')
  const git = (...args: string[]) => run('git', args, { cwd: projectRoot })
  await git('worktree', 'add', '--quiet', '--detach', folder, formerRelease.commit)
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'))
  await run('npm', ['run', 'generate'], { cwd: folder })
  return {
    folder,
    async remove() {
      await git('worktree', 'remove', '--force', folder)
      rmSync(parent, { recursive: true, force: true })
    },
  }
}
