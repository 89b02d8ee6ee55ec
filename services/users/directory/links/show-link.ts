import type { IDPLink } from '#gen/roster/users/v1/user_service'
import type { Link } from '../events/links.ts'

/** A link as answers show it. */
export function showLink({ idpId, issuer, subject, userName = '', linkedAt }: Link): IDPLink {
  return { idpId, userId: subject, userName, issuer, creationDate: new Date(linkedAt) }
}
