import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { documentSettings } from '#test/support/settings-document'
import { settings as gateway } from '../services/gateway/config.ts'
import { settings as grants } from '../services/grants/config.ts'
import { settings as idp } from '../services/idp/config.ts'
import { settings as notifier } from '../services/notifier/config.ts'
import { settings as users } from '../services/users/config.ts'

const file = fileURLToPath(new URL('settings.md', import.meta.url))

// With `-u`, this writes the page again.
test('docs/settings.md has each setting as its service declares it', async () => {
  const [, before, after] = /^(.*<!-- settings: [^\n]* -->\n).*(<!-- end of the settings -->.*)$/s.exec(
    readFileSync(file, 'utf8'),
  )!
  const tables = documentSettings({ gateway, users, grants, idp, notifier })
  await expect(`${before}\n${tables}\n\n${after}`).toMatchFileSnapshot(file)
})
