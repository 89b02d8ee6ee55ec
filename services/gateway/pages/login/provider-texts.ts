const en = {
  goOnWith: 'Continue with {provider}',
  providerNotAvailable: 'This way to sign in does not work at the moment. Please try again later, or use another way.',
  providerDenied: 'The sign-in was cancelled there. You can try again, or use another way.',
  providerInvalid: 'The answer that came back could not be accepted. Please try again, or use another way.',
  providerRefused:
    'You cannot sign in here in this way. Use another way, or ask the administrators of your organization.',
  providerNotFresh:
    'The application asks you to sign in anew, and the other service does not say that you did. Please use another way.',
  providerUnknown:
    'No account here is connected to this sign-in yet. If you have an account, sign in to it now: you can connect the two then.',
  providerUnknownByLink:
    'No account here is connected to this sign-in yet. If you have an account, sign in to it. To connect the two, press the button of the other service on this page first.',
  providerThrottled: 'Too many sign-ins have begun at this address. Please wait a minute, and try again.',
  linksProvider: 'Sign in to the account that you want to connect to {provider}.',
  createAccountWith: 'Complete your account',
  createAccountWithIntro: '{provider} has signed you in. Your account here still needs:',
  createAccountWithAs: '{provider} has signed you in as {account}. Your account here still needs:',
  linkProvider: 'Connect this sign-in?',
  linkProviderIntro:
    'If you connect them, whoever signs in at {provider} as below gets into your account {login}, from now on and without your password.',
  linkProviderOnly:
    'Connect only if you have just signed in at {provider} yourself, and this is you. Nobody else will ask you to do it.',
  linkProviderSays: 'What {provider} says about who signed in there:',
  linkProviderName: 'Name',
  linkProviderEmail: 'Email',
  linkProviderSubject: 'Id',
  linkProviderTaken: 'This sign-in at {provider} cannot be connected: it already belongs to another account here.',
  linkProviderOther:
    'Your account {login} is connected to another sign-in at {provider} already. To connect this one, disconnect that one in your account first.',
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
  trial: 'What the provider says',
  trialIntro:
    '{provider} has proved who you are. Nobody was signed in, no account was made, and nothing of this is kept.',
  trialFailed: '{provider} has proved nobody:',
  trialNobody: 'Nobody was signed in, and no account was made.',
  trialIssuer: 'Issuer',
  trialSubject: 'Subject',
  trialRead: 'What Roster reads',
  trialNone: 'missing',
  trialFactors: 'Counts as two factors by',
  trialOneFactor: 'nothing: it is one factor',
  trialRoles: 'Roles that it would give',
  trialNoRoles: 'none',
  trialSaid: 'All claims',
}

const de: typeof en = {
  goOnWith: 'Weiter mit {provider}',
  providerNotAvailable:
    'Dieser Weg zur Anmeldung geht gerade nicht. Bitte versuchen Sie es später, oder nehmen Sie einen anderen Weg.',
  providerDenied:
    'Die Anmeldung wurde dort abgebrochen. Versuchen Sie es noch einmal, oder nehmen Sie einen anderen Weg.',
  providerInvalid:
    'Die Antwort, die zurückkam, kann nicht angenommen werden. Bitte versuchen Sie es noch einmal, oder nehmen Sie einen anderen Weg.',
  providerRefused:
    'Auf diesem Weg können Sie sich hier nicht anmelden. Nehmen Sie einen anderen, oder fragen Sie die Administratoren Ihrer Organisation.',
  providerNotFresh:
    'Die Anwendung verlangt eine neue Anmeldung, und der andere Dienst sagt nicht, dass es eine war. Bitte nehmen Sie einen anderen Weg.',
  providerUnknownByLink:
    'Mit dieser Anmeldung ist hier noch kein Konto verbunden. Wenn Sie ein Konto haben, melden Sie sich damit an. Um beide zu verbinden, drücken Sie vorher auf dieser Seite den Knopf des anderen Dienstes.',
  providerUnknown:
    'Mit dieser Anmeldung ist hier noch kein Konto verbunden. Wenn Sie ein Konto haben, melden Sie sich jetzt damit an: Danach können Sie beide verbinden.',
  providerThrottled:
    'Zu viele Anmeldungen haben an dieser Adresse begonnen. Bitte versuchen Sie es in einer Minute noch einmal.',
  linksProvider: 'Melden Sie sich mit dem Konto an, das Sie mit {provider} verbinden wollen.',
  createAccountWith: 'Ihr Konto vervollständigen',
  createAccountWithIntro: '{provider} hat Sie angemeldet. Ihr Konto hier braucht noch:',
  createAccountWithAs: '{provider} hat Sie als {account} angemeldet. Ihr Konto hier braucht noch:',
  linkProvider: 'Diese Anmeldung verbinden?',
  linkProviderIntro:
    'Wenn Sie beide verbinden, kommt von jetzt an in Ihr Konto {login}, wer sich bei {provider} so anmeldet wie unten, auch ohne Ihr Passwort.',
  linkProviderOnly:
    'Verbinden Sie nur, wenn Sie sich gerade selbst bei {provider} angemeldet haben und das Sie sind. Niemand sonst wird Sie darum bitten.',
  linkProviderSays: 'Was {provider} darüber sagt, wer sich dort angemeldet hat:',
  linkProviderName: 'Name',
  linkProviderEmail: 'E-Mail',
  linkProviderSubject: 'Kennung',
  linkProviderTaken:
    'Diese Anmeldung bei {provider} kann nicht verbunden werden: Sie gehört hier schon zu einem anderen Konto.',
  linkProviderOther:
    'Ihr Konto {login} ist schon mit einer anderen Anmeldung bei {provider} verbunden. Trennen Sie diese zuerst in Ihrem Konto.',
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
  trial: 'Was der Anbieter sagt',
  trialIntro:
    '{provider} hat bewiesen, wer Sie sind. Niemand wurde angemeldet, kein Konto wurde angelegt, und nichts davon wird behalten.',
  trialFailed: '{provider} hat niemanden bewiesen:',
  trialNobody: 'Niemand wurde angemeldet, und kein Konto wurde angelegt.',
  trialIssuer: 'Aussteller',
  trialSubject: 'Person',
  trialRead: 'Was Roster liest',
  trialNone: 'fehlt',
  trialFactors: 'Gilt als zwei Faktoren durch',
  trialOneFactor: 'nichts: Es ist ein Faktor',
  trialRoles: 'Rollen, die das gäbe',
  trialNoRoles: 'keine',
  trialSaid: 'Alle Angaben',
}

/** Texts of identity providers, by language. */
export const provider = { en, de }
