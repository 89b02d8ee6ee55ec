import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../../deploy/local/home.ts'
import type { Place } from './place.ts'

/**
 * Registers an application by the commands of its page, at addresses of the test in place of those that the page shows.
 * Returns what the example reads from its environment.
 */
export async function register(
  place: Place,
  page: string,
  addresses: Record<string, string> = {},
  heading = 'Register',
): Promise<Record<'ISSUER' | 'CLIENT_ID' | 'CLIENT_SECRET', string>> {
  const commands = commandsOf(page, heading)
  const ours = Object.entries(addresses).reduce((all, [shown, used]) => all.replaceAll(shown, used), commands)
  const { clientId, clientSecret = '' } = await place.paste(ours)
  return { ISSUER: place.issuer, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret }
}

/** The first commands below a heading of a page in docs/sign-in. */
export function commandsOf(page: string, heading: string): string {
  const text = readFileSync(join(projectRoot, 'docs/sign-in', page), 'utf8')
  const [, commands] = new RegExp(`^##+ ${heading}\n.*?^\`\`\`sh\n(.*?)^\`\`\``, 'ms').exec(text) ?? []
  if (commands === undefined) throw new Error(`docs/sign-in/${page} has no commands below ${heading}`)
  return commands
}
