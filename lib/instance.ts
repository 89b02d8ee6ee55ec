/**
 * The objects that the first start creates. The ids are fixed, so that each service creates its part without asking the
 * others.
 */
export const instance = {
  id: 'roster',
  organization: { id: 'default', name: 'Default' },
  humanAdministrator: { id: 'admin', userName: 'admin' },
  machineAdministrator: { id: 'admin-machine', userName: 'admin-machine' },
  administratorRole: 'IAM_OWNER',
  /** The application by which people sign in to the console. */
  console: { id: 'roster-console', clientId: 'roster-console', projectId: 'roster-console', name: 'Roster Console' },
}
