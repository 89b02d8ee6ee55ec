import { texts } from '../texts/texts.ts'

/** Words about identity providers, which the list, the provider and the wizard share. */
export const words = texts(
  {
    providers: 'Identity providers',
    add: 'Add a provider',
    find: 'Find by name',
    name: 'Name',
    kind: 'Kind',
    state: 'State',
    anyState: 'Any state',
    active: 'active',
    inactive: 'deactivated',
    incomplete: 'not set up yet',
    noSignIn: 'signs nobody in yet',
    onPage: 'Sign-in page',
    shown: 'button shown',
    listedOnly: 'listed, not shown',
    notListed: 'not listed',
    newPeople: 'New people',
    makesUsers: 'get an account',
    makesNobody: 'connect theirs',
    none: 'There is no provider yet. With one, people sign in by an account that they have elsewhere.',
    others: (count: number) =>
      count === 1
        ? 'The sign-in page also has the button of a provider of the instance.'
        : `The sign-in page also has the buttons of ${count} providers of the instance.`,
    added: (name: string) => `${name} was added.`,
  },
  {
    providers: 'Identitätsanbieter',
    add: 'Anbieter hinzufügen',
    find: 'Nach Name finden',
    name: 'Name',
    kind: 'Art',
    state: 'Zustand',
    anyState: 'Jeder Zustand',
    active: 'aktiv',
    inactive: 'deaktiviert',
    incomplete: 'noch nicht eingerichtet',
    noSignIn: 'meldet noch niemanden an',
    onPage: 'Anmeldeseite',
    shown: 'mit Knopf',
    listedOnly: 'genannt, ohne Knopf',
    notListed: 'nicht genannt',
    newPeople: 'Neue Personen',
    makesUsers: 'bekommen ein Konto',
    makesNobody: 'verbinden ihres',
    none: 'Es gibt noch keinen Anbieter. Mit einem melden sich Personen mit einem Konto an, das sie anderswo haben.',
    others: (count) =>
      count === 1
        ? 'Die Anmeldeseite hat auch den Knopf eines Anbieters der Instanz.'
        : `Die Anmeldeseite hat auch die Knöpfe von ${count} Anbietern der Instanz.`,
    added: (name) => `${name} wurde hinzugefügt.`,
  },
)
