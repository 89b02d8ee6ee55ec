import { createSurplus } from '../../sessions/surplus.ts'
import { type Authorization, authorizationType, type EndReason, endOf } from '../events/authorization.ts'

export const surplusAuthorizations = createSurplus<Authorization>({
  table: 'surplus_authorizations',
  id: 'authorization_id',
  type: authorizationType,
  endOf: (authorization, reason) => endOf(authorization, reason as EndReason),
})
