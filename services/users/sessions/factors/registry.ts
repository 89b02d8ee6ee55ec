import type { FactorKind } from '../events/session.ts'
import type { Factor } from './factor.ts'
import { mailedCode } from './mailed-code/mailed-code.ts'
import { otpEmail } from './otp-email/otp-email.ts'
import { passkey } from './passkey/passkey.ts'
import { password } from './password/password.ts'
import { recoveryCode } from './recovery-code/recovery-code.ts'
import { totp } from './totp/totp.ts'

/** The work of each kind of factor. */
export const factors: Record<FactorKind, Factor> = {
  password,
  'mailed-code': mailedCode,
  passkey,
  totp,
  'otp-email': otpEmail,
  'recovery-code': recoveryCode,
}
