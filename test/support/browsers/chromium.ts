import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

/** Empty where the machine has Chromium. Otherwise the reason for which a test is skipped. */
export const withoutChromium = existsSync(executablePath) ? '' : ' (skipped: there is no Chromium)'

export function openChromium(more: string[] = []): Promise<Browser> {
  const args = [
    ...more,
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
  ]
  return chromium.launch({ executablePath, args })
}
