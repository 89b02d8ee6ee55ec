const en = {
  goOnWith: 'Continue with {provider}',
  providerNotAvailable: 'The sign-in by the other service does not work at the moment. Please try again later.',
  providerDenied: 'The sign-in was cancelled at the other service. You can try again.',
  providerInvalid: 'The answer of the other service could not be accepted. Please try again.',
  providerRefused:
    'You cannot sign in here in this way. Use another way, or ask the administrators of your organization.',
  providerNotFresh:
    'The application asks you to sign in again, and the other service does not say that you did. Please sign in in another way.',
  providerUnknown:
    'No account here is connected to your account at {provider} yet. If you have one here, sign in to it now. Then you can connect the two.',
  providerUnknownByLink:
    'No account here is connected to your account at the other service yet. To connect one, first press the button of that service on this page, and then sign in to your account here.',
  providerThrottled: 'Too many sign-ins have begun at this address. Please wait a minute, and try again.',
  linksProvider: 'Sign in to the account that you want to connect to {provider}.',
  createAccountWith: 'Complete your account',
  createAccountWithIntro: '{provider} has signed you in. Your account here still needs:',
  createAccountWithAs: '{provider} has signed you in as {account}. Your account here still needs:',
  linkProvider: 'Connect your account?',
  linkProviderIntro:
    'If you connect your account {login} to {provider}, the account shown below opens it from now on, without your password.',
  linkProviderOnly:
    'Connect them only if the account at {provider} is yours and you have just signed in to it. Do not connect them if someone else asked you to.',
  linkProviderSays: 'Account at {provider}:',
  linkProviderName: 'User name',
  linkProviderEmail: 'Email',
  linkProviderSubject: 'Id',
  linkProviderTaken: 'This account at {provider} is already connected to another account here.',
  linkProviderOther:
    'Your account {login} is already connected to another account at {provider}. To connect this one, first disconnect the other one on the page of your account.',
  linkProviderGoOn: 'Continue without connecting',
  linkProviderDo: 'Connect',
  linkProviderNotNow: 'Not now',
  otherServices: 'Connected services',
  otherServicesIntro: 'These services can sign you in. A session that began at one you disconnect ends.',
  noServices: 'No other service signs you in.',
  manageServices: 'Disconnect a service',
  disconnect: 'Disconnect',
  connectedSince: 'Connected: {time}',
  serviceOff: 'A service that is switched off',
  providerRemoved: 'The service is disconnected.',
  providerLast: 'You could not sign in any more without this service. Set a password or add a passkey first.',
  trial: 'Trial sign-in',
  trialIntro:
    'The sign-in at {provider} succeeded. It was only a trial: no session began, no account was created, and nothing of it is stored. You can close this page.',
  trialFailed: 'The sign-in at {provider} failed:',
  trialNobody: 'It was only a trial: nothing has changed. You can close this page.',
  trialIssuer: 'Issuer',
  trialSubject: 'Subject',
  trialRead: 'Claims that Roster reads',
  trialNone: 'missing',
  trialFactors: 'Second factor',
  trialTwoFactors: 'The sign-in counts as two factors, because of: {words}',
  trialOneFactor: 'The sign-in counts as one factor.',
  trialRoles: 'Roles by claims',
  trialNoRoles: 'No claim gives a role.',
  trialUserName: 'User name there',
  trialDisplayName: 'Display name',
  trialNickName: 'Nickname',
  trialVerified: 'Address verified',
  trialSaid: 'All claims',
}

const de: typeof en = {
  goOnWith: 'Weiter mit {provider}',
  providerNotAvailable:
    'Die Anmeldung mit dem anderen Dienst funktioniert gerade nicht. Bitte versuchen Sie es später noch einmal.',
  providerDenied: 'Die Anmeldung wurde beim anderen Dienst abgebrochen. Sie können es noch einmal versuchen.',
  providerInvalid:
    'Die Antwort des anderen Dienstes konnte nicht angenommen werden. Bitte versuchen Sie es noch einmal.',
  providerRefused:
    'Auf diesem Weg können Sie sich hier nicht anmelden. Nehmen Sie einen anderen, oder fragen Sie die Administratoren Ihrer Organisation.',
  providerNotFresh:
    'Die Anwendung verlangt eine neue Anmeldung, und der andere Dienst bestätigt sie nicht. Bitte melden Sie sich auf einem anderen Weg an.',
  providerUnknownByLink:
    'Mit Ihrem Konto beim anderen Dienst ist hier noch kein Konto verbunden. Um eines zu verbinden, drücken Sie zuerst auf dieser Seite den Knopf jenes Dienstes, und melden Sie sich dann mit Ihrem Konto hier an.',
  providerUnknown:
    'Mit Ihrem Konto bei {provider} ist hier noch kein Konto verbunden. Wenn Sie hier eines haben, melden Sie sich jetzt damit an. Danach können Sie beide verbinden.',
  providerThrottled:
    'Zu viele Anmeldungen haben an dieser Adresse begonnen. Bitte versuchen Sie es in einer Minute noch einmal.',
  linksProvider: 'Melden Sie sich mit dem Konto an, das Sie mit {provider} verbinden wollen.',
  createAccountWith: 'Ihr Konto vervollständigen',
  createAccountWithIntro: '{provider} hat Sie angemeldet. Ihr Konto hier braucht noch:',
  createAccountWithAs: '{provider} hat Sie als {account} angemeldet. Ihr Konto hier braucht noch:',
  linkProvider: 'Konto verbinden?',
  linkProviderIntro:
    'Wenn Sie Ihr Konto {login} mit {provider} verbinden, öffnet es von jetzt an das Konto, das unten steht, auch ohne Ihr Passwort.',
  linkProviderOnly:
    'Verbinden Sie beide nur, wenn das Konto bei {provider} Ihnen gehört und Sie sich gerade damit angemeldet haben. Verbinden Sie nichts, wenn jemand anders Sie darum gebeten hat.',
  linkProviderSays: 'Konto bei {provider}:',
  linkProviderName: 'Benutzername',
  linkProviderEmail: 'E-Mail',
  linkProviderSubject: 'Kennung',
  linkProviderTaken: 'Dieses Konto bei {provider} ist hier schon mit einem anderen Konto verbunden.',
  linkProviderOther:
    'Ihr Konto {login} ist schon mit einem anderen Konto bei {provider} verbunden. Trennen Sie dieses zuerst auf der Seite Ihres Kontos.',
  linkProviderGoOn: 'Weiter, ohne zu verbinden',
  linkProviderDo: 'Verbinden',
  linkProviderNotNow: 'Jetzt nicht',
  otherServices: 'Verbundene Dienste',
  otherServicesIntro:
    'Diese Dienste können Sie anmelden. Eine Sitzung, die bei einem Dienst begann, endet, wenn Sie ihn trennen.',
  noServices: 'Kein anderer Dienst meldet Sie an.',
  manageServices: 'Einen Dienst trennen',
  disconnect: 'Trennen',
  connectedSince: 'Verbunden: {time}',
  serviceOff: 'Ein Dienst, der ausgeschaltet ist',
  providerRemoved: 'Der Dienst ist getrennt.',
  providerLast:
    'Ohne diesen Dienst könnten Sie sich nicht mehr anmelden. Setzen Sie zuerst ein Passwort, oder fügen Sie einen Passkey hinzu.',
  trial: 'Anmeldung zur Probe',
  trialIntro:
    'Die Anmeldung bei {provider} ist gelungen. Es war nur eine Probe: Keine Sitzung hat begonnen, kein Konto wurde angelegt, und nichts davon wird gespeichert. Sie können diese Seite schließen.',
  trialFailed: 'Die Anmeldung bei {provider} ist gescheitert:',
  trialNobody: 'Es war nur eine Probe: Nichts hat sich geändert. Sie können diese Seite schließen.',
  trialIssuer: 'Issuer',
  trialSubject: 'Subject',
  trialRead: 'Claims, die Roster liest',
  trialNone: 'fehlt',
  trialFactors: 'Zweiter Faktor',
  trialTwoFactors: 'Die Anmeldung gilt als zwei Faktoren, wegen: {words}',
  trialOneFactor: 'Die Anmeldung gilt als ein Faktor.',
  trialRoles: 'Rollen nach Claims',
  trialNoRoles: 'Kein Claim gibt eine Rolle.',
  trialUserName: 'Benutzername dort',
  trialDisplayName: 'Anzeigename',
  trialNickName: 'Spitzname',
  trialVerified: 'Adresse bestätigt',
  trialSaid: 'Alle Claims',
}

/** Texts of identity providers, by language. */
export const provider = { en, de }
