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
  notMeHint: '“This wasn’t me” signs out there and asks you for a new password, which takes from apps what they have.',
  trusted: 'Trusted browsers where you are signed out ({count})',
  trustedHint: 'Who knows your password signs in there without a second factor.',
  trustedSince: 'Trusted since {time}',
  distrust: 'Ask there again',
  disowned: 'It is signed out there. Somebody may know your password, so choose a new one.',
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
  notMeHint:
    '„Das war ich nicht“ meldet dort ab und fragt Sie nach einem neuen Passwort, das Apps nimmt, was sie haben.',
  trusted: 'Vertraute Browser, in denen Sie abgemeldet sind ({count})',
  trustedHint: 'Wer Ihr Passwort kennt, meldet sich dort ohne zweiten Faktor an.',
  trustedSince: 'Vertraut seit {time}',
  distrust: 'Dort wieder fragen',
  disowned: 'Dort ist jetzt abgemeldet. Jemand kennt vielleicht Ihr Passwort: Wählen Sie ein neues.',
}

/** The texts of the page of activity. */
export const activity = { en, de }
