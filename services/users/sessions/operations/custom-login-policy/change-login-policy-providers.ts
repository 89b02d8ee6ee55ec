import type { ChangeLoginPolicyProvidersRequest } from '#gen/roster/users/v1/custom_login_policy_service'
import { invalid, type Violation } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { change } from './change.ts'
import { refuseDefault } from './custom-login-policy.ts'

type Request = ChangeLoginPolicyProvidersRequest

/** As in IdentityProviders of the contract. */
const most = 20

export const changeLoginPolicyProviders = {
  check(_context: Context, { change }: Request): Violation[] {
    const named = [change?.addIdpId, change?.removeIdpId].filter(Boolean)
    return named.length === 1 ? [] : [{ field: 'change', description: 'must name one identity provider' }]
  },

  handle(context: Context, { change: asked }: Request, call: Call) {
    const { addIdpId, removeIdpId } = asked!
    return change(context, call, (own, ofInstance) => {
      refuseDefault(own, call)
      const list = own.identityProviders ?? ofInstance.identityProviders ?? { idpIds: [] }
      const others = list.idpIds.filter((idpId) => idpId !== removeIdpId)
      const idpIds = addIdpId === '' || others.includes(addIdpId) ? others : [...others, addIdpId]
      if (idpIds.length > most)
        throw invalid([{ field: 'change.addIdpId', description: `must be one of ${most} that are listed at most` }])
      // Nothing was listed, and nothing is.
      if (idpIds.length === 0 && !own.identityProviders) return own
      const { domains, ...rest } = list
      // A domain leads to a listed provider alone.
      const left = domains?.filter(({ idpId }) => idpId !== removeIdpId)
      return { ...own, identityProviders: { ...rest, idpIds, ...(left?.length && { domains: left }) } }
    })
  },
}
