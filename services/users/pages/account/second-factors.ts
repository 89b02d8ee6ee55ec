import type { AccountPage } from '#gen/roster/users/v1/sign_in_service'
import type { ShowAccountRequest } from '#gen/roster/users/v1/account_service'
import type { Context } from '../../context.ts'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import { isAllowed } from '../../openid/judge/judge.ts'
import { factorKinds, hasFactor, hasSecondFactor } from '../../sessions/factors/kinds.ts'
import { countCodes } from '../../sessions/factors/recovery-code/codes.ts'
import { findNewTotp } from '../../sessions/factors/totp/set-up.ts'
import { provedMailboxAlone } from '../../sessions/mailbox-alone.ts'
import { setUpBinding } from '../sign-in/factors/totp.ts'

/** What the account shows of second factors. A secret is shown on the page that sets it up alone. */
export async function secondFactorsOf(
  context: Context,
  person: Candidate,
  { section }: ShowAccountRequest,
): Promise<Pick<AccountPage, 'secondFactors'>> {
  const { user, verdict, signedInUser } = person
  const { human } = user
  const [hasTotp, hasCodes] = [hasFactor(human, 'totp'), hasFactor(human, 'recovery-code')]
  const hasSecond = isAllowed(verdict) && verdict.factors.some(({ kind }) => factorKinds[kind].second)
  const standsOnMail = isAllowed(verdict) && provedMailboxAlone(human, verdict.factors)
  const [left, secret] = await Promise.all([
    hasCodes ? countCodes(context, signedInUser.userId) : undefined,
    section === 'authenticator' && !hasTotp ? findNewTotp(context, setUpBinding(person), user) : undefined,
  ])
  return {
    secondFactors: {
      hasTotp,
      recoveryCodesLeft: left,
      mayAdd: hasSecond || !(human?.passwordByMail || standsOnMail),
      secret,
      mayHaveRecoveryCodes: hasSecondFactor(human),
      recoveryCodes: [],
    },
  }
}
