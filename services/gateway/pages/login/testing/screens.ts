import type { JsonObject } from '@bufbuild/protobuf'
import { accountScreens } from './account-screens.ts'
import { factorScreens } from './factor-screens.ts'
import { passkeyScreens } from './passkey-screens.ts'
import { providerScreens } from './provider-screens.ts'
import { requestScreens } from './request-screens.ts'

/** Every kind of page, by name. */
export const screens: Record<string, JsonObject> = {
  ...requestScreens,
  ...factorScreens,
  ...passkeyScreens,
  ...providerScreens,
  ...accountScreens,
}
