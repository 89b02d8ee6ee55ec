import { organizationNotes } from '../../organization-notes.ts'
import { organizationType } from '../vocabulary/organization.ts'

/** What users knows of organizations. */
export const notes = organizationNotes(organizationType)
