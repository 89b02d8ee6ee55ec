import { texts } from '../texts/texts.ts'

/** Words about the roles that a provider's claims give. */
export const roleWords = texts(
  {
    roles: 'Roles by claims',
    intro:
      'Whoever signs in by this provider has the roles of each row whose claim has the value. They go with the claim at the next sign-in, and with the row at once. Roles that a hand gave stay.',
    add: 'Add a row',
    none: 'No claim gives roles yet.',
    claim: 'Claim',
    claimHint: 'Such as groups, or /realm_access/roles for one inside another.',
    value: 'Value',
    valueHint: 'Letter by letter, such as the name or the id of a group.',
    project: 'Project',
    findProject: 'Find a project',
    gives: 'Roles',
    added: 'The row is added.',
    removed: 'The row is removed.',
    removeTitle: (value: string) => `Remove the row of ${value}?`,
    removeText: 'The roles that it gave are taken from people at once.',
    removeOf: (value: string) => `Remove the row of ${value}`,
  },
  {
    roles: 'Rollen nach Claims',
    intro:
      'Wer sich mit diesem Anbieter anmeldet, hat die Rollen jeder Zeile, deren Claim den Wert hat. Sie gehen mit dem Claim bei der nächsten Anmeldung, mit der Zeile sofort. Rollen, die von Hand gegeben wurden, bleiben.',
    add: 'Zeile hinzufügen',
    none: 'Noch gibt kein Claim Rollen.',
    claim: 'Claim',
    claimHint: 'Etwa groups, oder /realm_access/roles für einen in einem anderen.',
    value: 'Wert',
    valueHint: 'Zeichen für Zeichen, etwa der Name oder die Id einer Gruppe.',
    project: 'Projekt',
    findProject: 'Projekt finden',
    gives: 'Rollen',
    added: 'Die Zeile ist hinzugefügt.',
    removed: 'Die Zeile ist entfernt.',
    removeTitle: (value) => `Die Zeile von ${value} entfernen?`,
    removeText: 'Die Rollen, die sie gab, werden den Personen sofort genommen.',
    removeOf: (value) => `Die Zeile von ${value} entfernen`,
  },
)
