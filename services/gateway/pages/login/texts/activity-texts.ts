const en = {
  clientOn: '{browser} on {system}',
  clientTo: '{client}, to {application}',
  unknownClient: 'An unknown browser',
  signInFrom: 'from {address}',
  signInPartial: 'The second step was missing, so it opened nothing.',
  signIns: 'Recent sign-ins ({count})',
  signInsHint: 'Sign-ins are kept for {days} days.',
  furtherSignIns: 'Earlier sign-ins',
  firstSignIns: 'The latest sign-ins',
  notMe: 'This wasn’t me',
  notMeHint: '“This wasn’t me” signs out there, and says what else to do.',
  trusted: 'Trusted browsers where you are signed out ({count})',
  trustedHint: 'Signing in there asks for no second factor.',
  trustedSince: 'Trusted since {time}',
  distrust: 'Ask there again',
  disowned: 'It is signed out there. Somebody may know your password, so choose a new one.',
  disownedPasskey:
    'It is signed out there. Somebody may have a passkey of yours: remove those that you do not know. Then sign out everywhere, which also takes from apps what they have.',
  disownedMail:
    'It is signed out there. Somebody may read your mailbox: change its password. Then sign out everywhere, which also takes from apps what they have.',
}

const de: typeof en = {
  clientOn: '{browser} auf {system}',
  clientTo: '{client}, zu {application}',
  unknownClient: 'Ein unbekannter Browser',
  signInFrom: 'von {address}',
  signInPartial: 'Der zweite Schritt fehlte, deshalb wurde nichts geöffnet.',
  signIns: 'Letzte Anmeldungen ({count})',
  signInsHint: 'Anmeldungen werden {days} Tage lang aufbewahrt.',
  furtherSignIns: 'Frühere Anmeldungen',
  firstSignIns: 'Die neuesten Anmeldungen',
  notMe: 'Das war ich nicht',
  notMeHint: '„Das war ich nicht“ meldet dort ab und sagt, was noch zu tun ist.',
  trusted: 'Vertraute Browser, in denen Sie abgemeldet sind ({count})',
  trustedHint: 'Die Anmeldung dort fragt nach keinem zweiten Faktor.',
  trustedSince: 'Vertraut seit {time}',
  distrust: 'Dort wieder fragen',
  disowned: 'Dort ist jetzt abgemeldet. Jemand kennt vielleicht Ihr Passwort: Wählen Sie ein neues.',
  disownedPasskey:
    'Dort ist jetzt abgemeldet. Jemand hat vielleicht einen Ihrer Passkeys: Entfernen Sie die, die Sie nicht kennen. Melden Sie sich dann überall ab: Das nimmt auch Apps, was sie haben.',
  disownedMail:
    'Dort ist jetzt abgemeldet. Jemand liest vielleicht Ihr Postfach: Ändern Sie dessen Passwort. Melden Sie sich dann überall ab: Das nimmt auch Apps, was sie haben.',
}

/** The texts of the page of activity. */
export const activity = { en, de }
