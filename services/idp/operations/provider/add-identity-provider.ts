import { IDPStylingType } from '#gen/roster/idp/v1/identity_provider_service'
import type { AddIdentityProviderRequest, AddIdentityProviderResponse } from '#gen/roster/idp/v1/provider_service'
import type { Call } from '#lib/rpc/headers'
import { addIdp } from '../../add-idp.ts'
import type { Context } from '../../context.ts'
import { checkKind } from '../../kinds/check-kind.ts'
import { secretOf, settingsOf, updateChange } from '../../kinds/settings-of.ts'
import { toRecord, withoutUnsaid } from '../../kinds/to-record.ts'

export const addIdentityProvider = {
  check: checkKind,

  async handle(
    context: Context,
    request: AddIdentityProviderRequest,
    call: Call,
  ): Promise<AddIdentityProviderResponse> {
    const config = request.config!
    // Google wants its own button.
    const { STYLING_TYPE_GOOGLE, STYLING_TYPE_UNSPECIFIED } = IDPStylingType
    const stylingType = config.$case === 'google' ? STYLING_TYPE_GOOGLE : STYLING_TYPE_UNSPECIFIED
    const { protocol, configuration } = toRecord(config)
    const settings = { ...settingsOf(request), stylingType }
    return addIdp(context, call, protocol, settings, withoutUnsaid(configuration), {
      secret: secretOf(request),
      more: updateChange(undefined, request),
    })
  },
}
