from plugin_utils import lazy_singleton



@lazy_singleton
def get_client():
	return Client()
