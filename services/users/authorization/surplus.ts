import { createSurplus } from '../sign-in/surplus.ts'
import { type Authorization, authorizationType, type EndReason, endOf } from '../vocabulary/authorization.ts'

export const surplusAuthorizations = createSurplus<Authorization>({
  table: 'surplus_authorizations',
  id: 'authorization_id',
  type: authorizationType,
  endOf: (authorization, reason) => endOf(authorization, reason as EndReason),
})
