const en = {
  account: 'Your account',
  sessions: 'Where you are signed in ({count})',
  thisBrowser: 'This browser',
  someBrowser: 'Another browser',
  someProgram: 'A program',
  sessionBegan: 'Signed in: {time}',
  sessionUsed: 'Last used: {time}',
  sessionEnds: 'Ends: {time}',
  endSession: 'Sign out there',
  furtherSessions: 'Further sign-ins',
  firstSessions: 'The newest sign-ins',
  consents: 'Applications that you let in ({count})',
  noConsents: 'None. Applications of your own organization may need no permission, and are not listed here.',
  consentMay: '{application} may:',
  consentGiven: 'Allowed: {time}',
  removedApplication: 'An application that was removed',
  takeBack: 'Take back',
  furtherConsents: 'Further applications',
  firstConsents: 'The first applications',
  leave: 'Sign out',
  leaveHint:
    'Everywhere means: in all browsers and programs. Applications that have access while you are not there lose it, too.',
  leaveHere: 'Sign out in this browser',
  leaveEverywhere: 'Sign out everywhere',
}

const de: typeof en = {
  account: 'Ihr Konto',
  sessions: 'Wo Sie angemeldet sind ({count})',
  thisBrowser: 'Dieser Browser',
  someBrowser: 'Ein anderer Browser',
  someProgram: 'Ein Programm',
  sessionBegan: 'Angemeldet: {time}',
  sessionUsed: 'Zuletzt benutzt: {time}',
  sessionEnds: 'Endet: {time}',
  endSession: 'Dort abmelden',
  furtherSessions: 'Weitere Anmeldungen',
  firstSessions: 'Die neuesten Anmeldungen',
  consents: 'Anwendungen, denen Sie Zugriff erlauben ({count})',
  noConsents:
    'Keine. Anwendungen Ihrer eigenen Organisation brauchen mitunter keine Erlaubnis und stehen nicht in dieser Liste.',
  consentMay: '{application} darf:',
  consentGiven: 'Erlaubt: {time}',
  removedApplication: 'Eine Anwendung, die es nicht mehr gibt,',
  takeBack: 'Zurücknehmen',
  furtherConsents: 'Weitere Anwendungen',
  firstConsents: 'Die ersten Anwendungen',
  leave: 'Abmelden',
  leaveHint:
    'Überall heißt: in allen Browsern und Programmen. Auch Anwendungen, die Zugriff haben, während Sie nicht da sind, verlieren ihn.',
  leaveHere: 'In diesem Browser abmelden',
  leaveEverywhere: 'Überall abmelden',
}

/** The texts of the page of an account. */
export const account = { en, de }
