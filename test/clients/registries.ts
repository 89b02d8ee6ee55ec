import { tmpdir } from 'node:os'
import { runCommands } from './run-commands.ts'

/** A program that installs packages, and a question to the registry that its own settings name. */
const questions = {
  npm: 'npm view standardwebhooks version --prefer-online --fetch-retries=0',
  // A Python without pip has one in each of its environments: what these cannot install is no reason to skip.
  python3: `python3 -c 'import pip' || exit 0
python3 -m pip --retries 0 index versions requests`,
  go: 'go list -m golang.org/x/oauth2@latest',
}

export type Installer = keyof typeof questions

declare module 'vitest' {
  interface ProvidedContext {
    /** Those whose registry does not answer. */
    withoutRegistry: Installer[]
  }
}

/**
 * The installers whose registry does not answer, of those that the machine has. `patience`: milliseconds, since the
 * machine may be busy. `settings`: of their environment.
 */
export async function findWithoutRegistry(
  patience = 60_000,
  settings: Record<string, string> = {},
): Promise<Installer[]> {
  const asked = Object.entries(questions).map(async ([installer, question]) => {
    const isThere = `command -v ${installer} >/dev/null || exit 0\n`
    const answers = await runCommands(isThere + question, tmpdir(), patience, settings).then(
      () => true,
      () => false,
    )
    return answers ? [] : [installer as Installer]
  })
  return (await Promise.all(asked)).flat()
}
