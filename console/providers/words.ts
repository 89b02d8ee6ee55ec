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
    listedOnly: 'button hidden',
    notListed: 'no button',
    newPeople: 'First sign-in',
    makesUsers: 'creates an account',
    makesNobody: 'connects an account',
    none: 'There is no provider yet. With one, people sign in with an account that they have elsewhere, such as at Google or Microsoft.',
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
    shown: 'Knopf gezeigt',
    listedOnly: 'Knopf verborgen',
    notListed: 'kein Knopf',
    newPeople: 'Erste Anmeldung',
    makesUsers: 'legt ein Konto an',
    makesNobody: 'verbindet ein Konto',
    none: 'Es gibt noch keinen Anbieter. Mit einem melden sich Personen mit einem Konto an, das sie anderswo haben, etwa bei Google oder Microsoft.',
    others: (count) =>
      count === 1
        ? 'Die Anmeldeseite hat auch den Knopf eines Anbieters der Instanz.'
        : `Die Anmeldeseite hat auch die Knöpfe von ${count} Anbietern der Instanz.`,
    added: (name) => `${name} wurde hinzugefügt.`,
  },
)
