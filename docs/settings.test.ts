import { test } from 'vitest'
import { expectPart } from '#test/support/expect-part'
import { documentSettings } from '#test/support/settings-document'
import { settings as gateway } from '../services/gateway/config.ts'
import { settings as grants } from '../services/grants/config.ts'
import { settings as idp } from '../services/idp/config.ts'
import { settings as notifier } from '../services/notifier/config.ts'
import { settings as users } from '../services/users/config.ts'

test('docs/settings.md has each setting as its service declares it', () => {
  expectPart('settings.md', 'settings', documentSettings({ gateway, users, grants, idp, notifier }))
})
