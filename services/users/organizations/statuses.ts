import { organizationStatuses } from '../../organization-status.ts'
import { organizationType } from '../vocabulary/organization.ts'

/** What users knows of organizations. */
export const statuses = organizationStatuses(organizationType)
