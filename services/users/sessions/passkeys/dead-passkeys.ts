import type { Context } from '../../context.ts'
import { countDeadPasskeys } from '../factors/passkey/passkey-rows.ts'
import { relyingParty } from '../factors/passkey/relying-party.ts'

/**
 * Says at the start how many passkeys serve another domain than the present one: the setting was changed, and these serve
 * no more until it is changed back. A failure is logged alone.
 */
export function warnOfDeadPasskeys(context: Pick<Context, 'sql' | 'config' | 'log'>): void {
  const { id: rpId } = relyingParty(context.config)
  countDeadPasskeys(context, rpId).then(
    (passkeys) => {
      if (passkeys > 0)
        context.log.warn({ passkeys, rpId }, 'passkeys were made for another PASSKEY_RP_ID: they serve no more')
    },
    (err: unknown) => context.log.warn({ err }, 'passkeys of another PASSKEY_RP_ID were not counted'),
  )
}
