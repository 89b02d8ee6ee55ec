import type { ChangeLoginPolicyFactorsRequest } from '#gen/roster/users/v1/custom_login_policy_service'
import { invalid, type Violation } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { isWayOut, kindOfSecond, secondFactors } from '../../factors/kinds.ts'
import { change } from './change.ts'
import { refuseDefault, sameSetting } from './custom-login-policy.ts'
import { listOf } from './custom-settings.ts'

type Request = ChangeLoginPolicyFactorsRequest

export const changeLoginPolicyFactors = {
  check(_context: Context, { change }: Request): Violation[] {
    const named = Object.values(change ?? {}).filter((type) => type !== 0)
    return named.length === 1 ? [] : [{ field: 'change', description: 'must name one factor' }]
  },

  handle(context: Context, { change: asked }: Request, call: Call) {
    const { addSecondFactor, removeSecondFactor, addMultiFactor } = asked!
    const [added, removed] = [kindOfSecond(addSecondFactor), kindOfSecond(removeSecondFactor)]
    return change(context, call, (own, ofInstance) => {
      refuseDefault(own, call)
      if (!added && !removed) {
        // Nothing changes: passwordless_type has said it.
        if (((own.allowPasskeys ?? ofInstance.allowPasskeys) === true) === (addMultiFactor !== 0)) return own
        throw refused(addMultiFactor !== 0 ? 'addMultiFactor' : 'removeMultiFactor', sameSetting)
      }
      const list = (own.secondFactors ?? ofInstance.secondFactors)?.kinds ?? secondFactors
      const kinds = [...list.filter((kind) => kind !== removed), added]
      if (kinds.every((kind) => !kind || isWayOut(kind)))
        throw refused('removeSecondFactor', 'must leave one that is no recovery code')
      return { ...own, secondFactors: listOf(kinds) }
    })
  },
}

function refused(field: string, description: string) {
  return invalid([{ field: `change.${field}`, description }])
}
