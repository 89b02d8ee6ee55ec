import type { AccountPage } from '#gen/roster/users/v1/sign_in_service'
import type { Shown } from '../form.ts'
import type { Part } from '../html.ts'
import type { Document } from '../shell.ts'
import { accountFrame, type AccountShown } from './account-frame.ts'
import { activityPart } from './activity.ts'
import { appsPart } from './apps.ts'
import { emailPart } from './email.ts'
import { passwordPart } from './password.ts'
import { passkeysPart } from './passkeys.ts'
import { profilePart } from './profile.ts'
import { providersPart } from './providers.ts'
import { removalPart } from './removal.ts'
import { authenticatorPart, recoveryCodesPart } from './second-factors.ts'
import { signInPart } from './sign-in-part.ts'
import { yourDataPart } from './your-data.ts'

const parts: Record<string, (shown: AccountShown) => Part> = {
  '': profilePart,
  'sign-in': signInPart,
  activity: activityPart,
  apps: appsPart,
  data: yourDataPart,
  email: emailPart,
  password: passwordPart,
  authenticator: authenticatorPart,
  'recovery-codes': recoveryCodesPart,
  passkeys: passkeysPart,
  providers: providersPart,
  removal: removalPart,
}

/** A page of a person's own account. */
export function accountPage(shown: Shown, page: AccountPage): Document {
  const known = { ...shown, page }
  return accountFrame(known, (parts[page.section] ?? profilePart)(known))
}
