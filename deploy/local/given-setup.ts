import { readFileSync } from 'node:fs'
import { visible } from '../../compat/zitadel/migration/shown.ts'

/**
 * Applies the setup file that ROSTER_SETUP names, if any, and says what it did. The services go on where the file is refused:
 * it may be mended, and applied without another start.
 */
export async function applyGivenSetup(
  env: Record<string, string | undefined>,
  { url, adminTokenFile }: { url: string; adminTokenFile: string },
): Promise<void> {
  const file = env['ROSTER_SETUP']
  if (!file) return
  // Only who has a setup file waits for what reads it.
  const { applySetup } = await import('../setup/apply.ts')
  const { openGateway } = await import('../setup/gateway.ts')
  const gateway = openGateway(url, () => readFileSync(adminTokenFile, 'utf8').trim(), true)
  const say = (line: string) => console.log(`setup: ${visible(line)}`)
  try {
    const done = await applySetup(gateway, file, { env, say, warn: (line) => say(`warning: ${line}`) })
    say(done === 0 ? 'nothing to do' : done === 1 ? '1 change' : `${done} changes`)
  } catch (error) {
    console.error(`The setup file is not applied:\n${(error as Error).message.split('\n').map(visible).join('\n')}`)
    console.error('The services run without it. Mend it, and apply it by: npm run roster -- setup apply')
  }
}
