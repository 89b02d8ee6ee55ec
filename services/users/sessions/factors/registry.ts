import type { FactorKind } from '../events/session.ts'
import type { Factor } from './factor.ts'
import { mailedCode } from './mailed-code/mailed-code.ts'
import { otpEmail } from './otp-email/otp-email.ts'
import { passkey } from './passkey/passkey.ts'
import { password } from './password/password.ts'
import { recoveryCode } from './recovery-code/recovery-code.ts'
import { totp } from './totp/totp.ts'

export type GivenFactor = Exclude<FactorKind, 'provider'>

/** The work of each kind of factor that a person gives here. What a provider proves comes back from there. */
export const factors: Record<GivenFactor, Factor> = {
  password,
  'mailed-code': mailedCode,
  passkey,
  totp,
  'otp-email': otpEmail,
  'recovery-code': recoveryCode,
}
