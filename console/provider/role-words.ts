import { texts } from '../texts/texts.ts'

/** Words about the roles that a provider's claims give. */
export const roleWords = texts(
  {
    roles: 'Roles by claims',
    intro:
      'People who sign in by this provider get the roles of each row whose claim has the value. They lose them at their next sign-in without the value, or at once when the row is removed. Roles that were given by hand stay.',
    add: 'Add a row',
    none: 'There is no row yet: no claim gives a role.',
    claim: 'Claim',
    claimAndValue: 'Claim and value',
    claimHint: 'Such as groups, or /realm_access/roles for a claim inside another.',
    value: 'Value',
    valueHint: 'Exactly as in the claim, such as the name or the id of a group.',
    project: 'Project',
    choose: 'Choose a project',
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
      'Wer sich mit diesem Anbieter anmeldet, bekommt die Rollen jeder Zeile, deren Claim den Wert hat. Sie enden bei der nächsten Anmeldung ohne den Wert, oder sofort, wenn die Zeile entfernt wird. Rollen, die von Hand gegeben wurden, bleiben.',
    add: 'Zeile hinzufügen',
    none: 'Es gibt noch keine Zeile: Kein Claim gibt eine Rolle.',
    claim: 'Claim',
    claimAndValue: 'Claim und Wert',
    claimHint: 'Etwa groups, oder /realm_access/roles für einen Claim in einem anderen.',
    value: 'Wert',
    valueHint: 'Genau wie im Claim, etwa der Name oder die Id einer Gruppe.',
    project: 'Projekt',
    choose: 'Projekt wählen',
    gives: 'Rollen',
    added: 'Die Zeile ist hinzugefügt.',
    removed: 'Die Zeile ist entfernt.',
    removeTitle: (value) => `Die Zeile von ${value} entfernen?`,
    removeText: 'Die Rollen, die sie gab, werden den Personen sofort genommen.',
    removeOf: (value) => `Die Zeile von ${value} entfernen`,
  },
)
